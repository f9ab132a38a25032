package kv

import "testing"

func TestPool(t *testing.T) {
	p := NewPool(4)
	if p.Take(5) || !p.Take(3) || p.Used() != 0.75 {
		t.Fatalf("%+v", p)
	}
	a, b := p.Name(1), p.Name(2)
	if a == nil || b == nil || p.Name(1) != nil {
		t.Fatal("a block is known once")
	}
	again := p.Share([]uint64{1, 3})
	p.Release([]*Block{a, b}, 1)
	if len(again) != 1 || again[0] != a || p.Used() != 0.25 {
		t.Fatalf("%d shared, %v used", len(again), p.Used())
	}
	if !p.Take(3) || len(p.Share([]uint64{2})) != 0 || p.Take(1) { // 2 was idle and had to go; 1 is in use
		t.Errorf("%+v", p)
	}
	p.Forget()
	p.Release(again, 3)
	if p.free != 4 || len(p.known) != 0 || p.idle.Len() != 0 {
		t.Errorf("%+v", p)
	}
}

// TestPoolForgetsTheOldest: the end of a prompt goes before its beginning.
func TestPoolForgetsTheOldest(t *testing.T) {
	p := NewPool(3)
	p.Take(3)
	p.Release([]*Block{p.Name(1), p.Name(2), p.Name(3)}, 0)
	if !p.Take(1) || len(p.Share([]uint64{1, 2, 3})) != 2 {
		t.Errorf("%v", p.known)
	}
}
