package sut

// Image is what a container image on this machine says of itself.
type Image struct {
	Name string
	CUDA Fact[string] // version of its CUDA; na when it has none
	ROCm Fact[string]
}
