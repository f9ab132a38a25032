package flagerror

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"assay/plan/spelling"
)

// Plainly says an error about a flag's value without the words of the library that could not read it.
func Plainly(err error) error {
	var bad *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &bad) {
		return err
	}
	flag := bad.GetFlag()
	want, known := wanted(flag.Value.Type())
	if !known || !errors.As(err, &number) && flag.Value.Type() != "duration" {
		return err
	}
	return fmt.Errorf("--%s %q: write %s", flag.Name, bad.GetValue(), want)
}

// wanted is how a value of the library's type is written.
func wanted(kind string) (want string, known bool) {
	switch kind {
	case "int":
		return "a whole number", true
	case "uint64":
		return "a whole number of at least 0", true
	case "float64":
		return "a number such as 10 or 0.5", true
	case "intSlice":
		return "whole numbers such as 1,512", true
	case "float64Slice":
		return "numbers such as 50,0.5", true
	case "duration":
		return "a time such as 500ms, 30s or 2m", true
	case "bool":
		return "true or false", true
	}
	return "", false
}

// Meant asks whether another of the flags was meant, where the error is about one that there is not; else it says nothing.
func Meant(err error, flags *pflag.FlagSet) string {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) || missing.GetSpecifiedShortnames() != "" {
		return ""
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near := spelling.Nearest(missing.GetSpecifiedName(), names)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean --%s?", near)
}
