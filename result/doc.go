// Package result is the result document assay.result/v1: types, canonical JSON, reading older versions. No logic.
//
// The same bytes stand in runs/<id>/result.json, come from `assay report --format json` and from the API.
package result
