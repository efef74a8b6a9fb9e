// Prints the sum of each sample type of the profiles that the arguments name, as the package profile of go tool pprof reads them.
package main

import (
	"fmt"
	"os"
	"pprofsums/profile"
)

func main() {
	for _, path := range os.Args[1:] {
		file, err := os.Open(path)
		if err == nil {
			var read *profile.Profile
			if read, err = profile.Parse(file); err == nil {
				for column, kind := range read.SampleType {
					var sum int64
					for _, sample := range read.Sample {
						sum += sample.Value[column]
					}
					fmt.Println(path, kind.Type, kind.Unit, sum)
				}
			}
			file.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, path, err)
			os.Exit(1)
		}
	}
}
