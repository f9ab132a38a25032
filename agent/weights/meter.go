package weights

import "sync"

// meter tells how far several readers are.
type meter struct {
	mu          sync.Mutex
	done, total int64
	told        int64 // percent
	progress    func(done, total int64)
}

func (m *meter) add(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done += n
	if percent := m.done * 100 / max(m.total, 1); percent != m.told && m.progress != nil {
		m.told = percent
		m.progress(m.done, m.total)
	}
}
