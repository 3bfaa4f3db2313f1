// Anthropic's own library for Go, without and with thinking.
package main

import (
	"context"
	"encoding/json"
	"errors"

	"clients/stage"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

const module = "github.com/anthropics/anthropic-sdk-go/v2"

var ctx = context.Background()
var job = stage.Job

func connect(key string) anthropic.Client {
	return anthropic.NewClient(option.WithBaseURL(job.URL), option.WithAPIKey(key), option.WithMaxRetries(0))
}

func body(model, prompt string, thinks bool) anthropic.MessageNewParams {
	params := anthropic.MessageNewParams{
		Model:     anthropic.Model(model),
		MaxTokens: 4000,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))},
	}
	if thinks {
		params.Thinking = anthropic.ThinkingConfigParamOfEnabled(2000)
	}
	return params
}

func collect(params anthropic.MessageNewParams) (message anthropic.Message, pieces int, err error) {
	client := connect(job.Key)
	stream := client.Messages.NewStreaming(ctx, params)
	for stream.Next() {
		event := stream.Current()
		if err := message.Accumulate(event); err != nil {
			return message, pieces, err
		}
		if event.Type == "content_block_delta" && event.AsContentBlockDelta().Delta.Type == "text_delta" {
			pieces++
		}
	}
	return message, pieces, stream.Err()
}

func textOf(message anthropic.Message) (text string) {
	for _, block := range message.Content {
		if block.Type == "text" {
			text += block.AsText().Text
		}
	}
	return text
}

// listed asks for the models as this library does: with the header of its own family.
func listed(model string) error {
	client := connect(job.Key)
	models := client.Models.ListAutoPaging(ctx, anthropic.ModelListParams{})
	for models.Next() {
		if models.Current().ID == model {
			return nil
		}
	}
	return errors.Join(errors.New(model+" is not in the list of models"), models.Err())
}

func stream(model, prompt string, thinks bool) (stage.Facts, error) {
	if err := listed(model); err != nil {
		return nil, err
	}
	message, pieces, err := collect(body(model, prompt, thinks))
	if err != nil {
		return nil, err
	}
	return stage.Facts{"text": textOf(message), "pieces": pieces, "input": message.Usage.InputTokens, "output": message.Usage.OutputTokens}, nil
}

func tools(model string, thinks bool) (stage.Facts, error) {
	client := connect(job.Key)
	params := body(model, job.Prompts["tools"], thinks)
	tool := anthropic.ToolParam{Name: "lookup", InputSchema: anthropic.ToolInputSchemaParam{
		Properties: stage.Parameters["properties"], Required: []string{"place"},
	}}
	params.Tools = []anthropic.ToolUnionParam{{OfTool: &tool}}
	for turn := 0; turn < 9; turn++ {
		var message anthropic.Message
		if turn%2 == 0 {
			whole, err := client.Messages.New(ctx, params)
			if err != nil {
				return nil, err
			}
			message = *whole
		} else {
			streamed, _, err := collect(params)
			if err != nil {
				return nil, err
			}
			message = streamed
		}
		results := []anthropic.ContentBlockParamUnion{}
		for _, block := range message.Content {
			if block.Type == "tool_use" {
				call := block.AsToolUse()
				input, _ := json.Marshal(call.Input)
				results = append(results, anthropic.NewToolResultBlock(call.ID, stage.Lookup(string(input)), false))
			}
		}
		if len(results) == 0 {
			return stage.Facts{"text": textOf(message)}, nil
		}
		params.Messages = append(params.Messages, message.ToParam(), anthropic.NewUserMessage(results...))
	}
	return nil, errors.New("no end")
}

func object(model string) (stage.Facts, error) {
	client := connect(job.Key)
	params := body(model, job.Prompts["object"], false)
	params.OutputConfig.Format = anthropic.JSONOutputFormatParam{Schema: stage.Person}
	message, err := client.Messages.New(ctx, params)
	if err != nil {
		return nil, err
	}
	return stage.Object(textOf(*message))
}

func failures(model string) (stage.Facts, error) {
	ask := func(model, prompt, key string) stage.Facts {
		client := connect(key)
		_, err := client.Messages.New(ctx, body(model, prompt, false))
		return failure(err)
	}
	_, midway := stream(model, job.Prompts["midway"], false)
	return stage.Facts{"failures": stage.Facts{
		"refused":    ask(model, job.Prompts["refused"], job.Key),
		"overloaded": ask(model, job.Prompts["overloaded"], job.Key),
		"midway":     failure(midway),
		"key":        ask(model, "Hello", "tg_live_wrong"),
		"model":      ask("no-such-model", "Hello", job.Key),
	}}, nil
}

func failure(err error) stage.Facts {
	var failed *anthropic.Error
	if errors.As(err, &failed) {
		return stage.Failure(failed.StatusCode, err)
	}
	return stage.Failure(0, err)
}

func main() {
	type scenes = map[string]func(string) (stage.Facts, error)
	for client, thinks := range map[string]bool{"anthropic-go": false, "anthropic-go, thinking": true} {
		stage.Play(client, "claude", module, scenes{
			"stream": func(model string) (stage.Facts, error) { return stream(model, job.Prompts["stream"], thinks) },
			"tools":  func(model string) (stage.Facts, error) { return tools(model, thinks) },
			"object": object,
			"error":  failures,
		})
	}
}
