// OpenAI's own library for Go: chat completions and responses.
package main

import (
	"context"
	"encoding/json"
	"errors"

	"clients/stage"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

const module = "github.com/openai/openai-go/v3"

var ctx = context.Background()
var job = stage.Job

func connect(key string) openai.Client {
	return openai.NewClient(option.WithBaseURL(job.URL+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
}

func failure(err error) stage.Facts {
	var failed *openai.Error
	if errors.As(err, &failed) {
		return stage.Failure(failed.StatusCode, errors.New(failed.Message))
	}
	return stage.Failure(0, err)
}

func failures(ask func(model, prompt, key string) error, stream func(model, prompt string) (stage.Facts, error)) func(string) (stage.Facts, error) {
	return func(model string) (stage.Facts, error) {
		_, midway := stream(model, job.Prompts["midway"])
		return stage.Facts{"failures": stage.Facts{
			"refused":    failure(ask(model, job.Prompts["refused"], job.Key)),
			"overloaded": failure(ask(model, job.Prompts["overloaded"], job.Key)),
			"midway":     failure(midway),
			"key":        failure(ask(model, "Hello", "tg_live_wrong")),
			"model":      failure(ask("no-such-model", "Hello", job.Key)),
		}}, nil
	}
}

func chatBody(model, prompt string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
	}
}

func chatStream(model, prompt string) (stage.Facts, error) {
	client := connect(job.Key)
	body := chatBody(model, prompt)
	body.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := client.Chat.Completions.NewStreaming(ctx, body)
	whole, pieces := openai.ChatCompletionAccumulator{}, 0
	for stream.Next() {
		chunk := stream.Current()
		whole.AddChunk(chunk)
		if len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			pieces++
		}
	}
	if stream.Err() != nil {
		return nil, stream.Err()
	}
	return stage.Facts{"text": whole.Choices[0].Message.Content, "pieces": pieces, "input": whole.Usage.PromptTokens, "output": whole.Usage.CompletionTokens}, nil
}

func chatTools(model string) (stage.Facts, error) {
	client := connect(job.Key)
	body := chatBody(model, job.Prompts["tools"])
	body.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "lookup", Parameters: stage.Parameters, Strict: openai.Bool(true),
	})}
	for turn := 0; turn < 9; turn++ {
		var message openai.ChatCompletionMessage
		if turn%2 == 0 {
			answer, err := client.Chat.Completions.New(ctx, body)
			if err != nil {
				return nil, err
			}
			message = answer.Choices[0].Message
		} else {
			whole := openai.ChatCompletionAccumulator{}
			stream := client.Chat.Completions.NewStreaming(ctx, body)
			for stream.Next() {
				whole.AddChunk(stream.Current())
			}
			if stream.Err() != nil {
				return nil, stream.Err()
			}
			message = whole.Choices[0].Message
		}
		if len(message.ToolCalls) == 0 {
			return stage.Facts{"text": message.Content}, nil
		}
		body.Messages = append(body.Messages, message.ToParam())
		for _, call := range message.ToolCalls {
			body.Messages = append(body.Messages, openai.ToolMessage(stage.Lookup(call.Function.Arguments), call.ID))
		}
	}
	return nil, errors.New("no end")
}

func chatObject(model string) (stage.Facts, error) {
	client := connect(job.Key)
	body := chatBody(model, job.Prompts["object"])
	body.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "person", Schema: stage.Person, Strict: openai.Bool(true)},
	}
	answer, err := client.Chat.Completions.New(ctx, body)
	if err != nil {
		return nil, err
	}
	return stage.Object(answer.Choices[0].Message.Content)
}

func chatAsk(model, prompt, key string) error {
	client := connect(key)
	_, err := client.Chat.Completions.New(ctx, chatBody(model, prompt))
	return err
}

func responsesBody(model, prompt string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: model,
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage(prompt, responses.EasyInputMessageRoleUser),
		}},
	}
}

func responsesStream(model, prompt string) (stage.Facts, error) {
	client := connect(job.Key)
	final, text, pieces, err := collect(client, responsesBody(model, prompt))
	if err != nil {
		return nil, err
	}
	return stage.Facts{"text": text, "pieces": pieces, "input": final.Usage.InputTokens, "output": final.Usage.OutputTokens}, nil
}

func collect(client openai.Client, body responses.ResponseNewParams) (final responses.Response, text string, pieces int, err error) {
	stream := client.Responses.NewStreaming(ctx, body)
	for stream.Next() {
		event := stream.Current()
		switch event.Type {
		case "response.output_text.delta":
			text += event.Delta
			pieces++
		case "response.completed":
			final = event.Response
		case "response.failed", "error":
			return final, text, pieces, errors.New(event.RawJSON())
		}
	}
	return final, text, pieces, stream.Err()
}

func responsesTools(model string) (stage.Facts, error) {
	client := connect(job.Key)
	body := responsesBody(model, job.Prompts["tools"])
	body.Store = openai.Bool(false)
	body.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	body.Reasoning = shared.ReasoningParam{Summary: "auto"}
	body.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("lookup", stage.Parameters, true)}
	for turn := 0; turn < 9; turn++ {
		var answer responses.Response
		if turn%2 == 0 {
			whole, err := client.Responses.New(ctx, body)
			if err != nil {
				return nil, err
			}
			answer = *whole
		} else {
			streamed, _, _, err := collect(client, body)
			if err != nil {
				return nil, err
			}
			answer = streamed
		}
		items, calls := body.Input.OfInputItemList, 0
		for _, item := range answer.Output {
			items = append(items, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
		}
		for _, item := range answer.Output {
			if item.Type == "function_call" {
				call := item.AsFunctionCall()
				items = append(items, param.Override[responses.ResponseInputItemUnionParam](stage.Facts{
					"type": "function_call_output", "call_id": call.CallID, "output": stage.Lookup(call.Arguments),
				}))
				calls++
			}
		}
		if calls == 0 {
			return stage.Facts{"text": answer.OutputText()}, nil
		}
		body.Input.OfInputItemList = items
	}
	return nil, errors.New("no end")
}

func responsesObject(model string) (stage.Facts, error) {
	client := connect(job.Key)
	body := responsesBody(model, job.Prompts["object"])
	body.Text.Format = responses.ResponseFormatTextConfigParamOfJSONSchema("person", stage.Person)
	answer, err := client.Responses.New(ctx, body)
	if err != nil {
		return nil, err
	}
	return stage.Object(answer.OutputText())
}

func responsesAsk(model, prompt, key string) error {
	client := connect(key)
	_, err := client.Responses.New(ctx, responsesBody(model, prompt))
	return err
}

func main() {
	type scenes = map[string]func(string) (stage.Facts, error)
	stage.Play("openai-go, chat", "gpt", module, scenes{
		"stream": func(model string) (stage.Facts, error) { return chatStream(model, job.Prompts["stream"]) },
		"tools":  chatTools,
		"object": chatObject,
		"error":  failures(chatAsk, chatStream),
	})
	stage.Play("openai-go, responses", "gpt", module, scenes{
		"stream": func(model string) (stage.Facts, error) { return responsesStream(model, job.Prompts["stream"]) },
		"tools":  responsesTools,
		"object": responsesObject,
		"error":  failures(responsesAsk, responsesStream),
	})
}
