// Package strict reads YAML that is no plan into a form, and refuses what the form does not have. It is a room of package plan.
package strict
