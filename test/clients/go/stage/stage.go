// Package stage is what the Go programs share: each plays every scene on every model of its job, which is JSON in its
// first argument, and prints one line of JSON for each, with what the library's user sees. The caller judges.
package stage

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

type Facts = map[string]any

var Job struct {
	URL     string                       `json:"url"`
	Key     string                       `json:"key"`
	Prompts map[string]string            `json:"prompts"`
	Results map[string]string            `json:"results"`
	Models  map[string]map[string]string `json:"models"`
}

var Parameters = Facts{
	"type":                 "object",
	"properties":           Facts{"place": Facts{"type": "string", "description": "The place"}},
	"required":             []string{"place"},
	"additionalProperties": false,
}

var Person = Facts{
	"type":                 "object",
	"properties":           Facts{"name": Facts{"type": "string"}, "age": Facts{"type": "integer"}},
	"required":             []string{"name", "age"},
	"additionalProperties": false,
}

var lookedUp []string

func init() {
	if err := json.Unmarshal([]byte(os.Args[1]), &Job); err != nil {
		panic(err)
	}
}

// Lookup is the tool.
func Lookup(arguments string) string {
	var input struct{ Place string }
	if err := json.Unmarshal([]byte(arguments), &input); err != nil {
		return err.Error()
	}
	lookedUp = append(lookedUp, input.Place)
	return Job.Results[input.Place]
}

func Play(client, family, module string, scenes map[string]func(model string) (Facts, error)) {
	for upstream, model := range Job.Models[family] {
		for _, scene := range []string{"stream", "tools", "object", "error"} {
			lookedUp = []string{}
			facts, err := scenes[scene](model)
			if err != nil {
				facts = Facts{"thrown": err.Error()}
			}
			if scene == "tools" {
				facts["places"] = lookedUp
			}
			facts["client"], facts["version"] = client, version(module)
			facts["upstream"], facts["scene"] = upstream, scene
			line, _ := json.Marshal(facts)
			fmt.Println(string(line))
		}
	}
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return ""
}

// Failure is what an attempt ends with; the status is 0 where the library has none.
func Failure(status int, err error) Facts {
	if err == nil {
		return Facts{"answer": "no error"}
	}
	told := Facts{"type": fmt.Sprintf("%T", err), "message": err.Error()}
	if status != 0 {
		told["status"] = status
	}
	return told
}

// Object is the JSON of a structured answer.
func Object(text string) (Facts, error) {
	var object any
	err := json.Unmarshal([]byte(text), &object)
	return Facts{"object": object}, err
}
