// The official OpenAI library on responses: by hand, and with its helpers `.stream()` and `.parse()`.
import type OpenAI from 'openai'

import type { Answer, Call, Mode, Prompt, Speaker } from '../speaker.ts'
import { sdkFailure } from './sdk-failure.ts'

type Client = typeof OpenAI
type Body = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>
type Response = OpenAI.Responses.Response
type Item = OpenAI.Responses.ResponseInputItem

export function openaiResponses(
  name: string,
  Client: Client,
  style: 'by hand' | 'helpers',
): Speaker {
  return {
    name,
    format: 'responses',
    lacks: { stop: 'responses have no stop sequences' },
    connect({ url, key, fetch }) {
      const client = new Client({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, fetch })
      const ask = style === 'by hand' ? askByHand : askWithHelpers
      return {
        ask: (prompt, mode) => ask(client, prompt, mode),
        failureOf: sdkFailure,
      }
    },
  }
}

async function askByHand(client: OpenAI, prompt: Prompt, mode: Mode): Promise<Answer> {
  const body = bodyOf(prompt)
  if (mode === 'plain') return answerOf(body, await client.responses.create(body))
  const stream = await client.responses.create({ ...body, stream: true })
  let response: Response | undefined
  for await (const event of stream)
    if (event.type === 'response.completed' || event.type === 'response.incomplete')
      response = event.response
  if (response === undefined) throw new Error('the stream ended without a final event')
  return answerOf(body, response)
}

async function askWithHelpers(client: OpenAI, prompt: Prompt, mode: Mode): Promise<Answer> {
  const body = bodyOf(prompt)
  const response =
    mode === 'plain'
      ? await client.responses.parse(body)
      : await client.responses.stream(body).finalResponse()
  return { ...answerOf(body, response), parsed: response.output_parsed }
}

function bodyOf(prompt: Prompt): Body {
  const { model, system, tools, forced, single, schema, outputTokensMax, thinks } = prompt
  return {
    model,
    input: itemsOf(prompt),
    // Like clients that keep the conversation themselves.
    store: false,
    ...(system && { instructions: system }),
    ...(tools && {
      tools: tools.map(({ name, description, schema: parameters }) => ({
        type: 'function',
        name,
        description,
        parameters,
        strict: false,
      })),
    }),
    ...(forced && { tool_choice: { type: 'function', name: forced } }),
    ...(single && { parallel_tool_calls: false }),
    ...(schema && { text: { format: { type: 'json_schema', name: 'answer', schema } } }),
    ...(outputTokensMax && { max_output_tokens: outputTokensMax }),
    ...(thinks && {
      reasoning: { effort: 'medium', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    }),
  }
}

function itemsOf({ text, image, imageUrl, pdf, after }: Prompt): Item[] {
  if (after) {
    const results = after.results.map(({ call, text: output }): Item => ({
      type: 'function_call_output',
      call_id: call.id,
      output,
    }))
    return [...(after.answer.history as Item[]), ...results]
  }
  const content: OpenAI.Responses.ResponseInputContent[] = [{ type: 'input_text', text }]
  if (image)
    content.push({
      type: 'input_image',
      detail: 'auto',
      image_url: `data:image/png;base64,${image}`,
    })
  if (imageUrl) content.push({ type: 'input_image', detail: 'auto', image_url: imageUrl })
  if (pdf) {
    const file_data = `data:application/pdf;base64,${pdf}`
    content.push({ type: 'input_file', filename: 'paper.pdf', file_data })
  }
  return [{ role: 'user', content }]
}

function answerOf(body: Body, response: Response): Answer {
  const thoughts = response.output.flatMap((item) =>
    item.type === 'reasoning' ? item.summary.map(({ text }) => text) : [],
  )
  const calls = response.output.flatMap((item): Call[] =>
    item.type === 'function_call'
      ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }]
      : [],
  )
  return {
    model: response.model,
    text: response.output_text ?? textOf(response),
    thoughts: thoughts.join(''),
    calls,
    ending: endingOf(response, calls),
    usage: {
      input: response.usage?.input_tokens,
      output: response.usage?.output_tokens,
      reasoning: response.usage?.output_tokens_details.reasoning_tokens,
    },
    history: [...(body.input as Item[]), ...response.output],
  }
}

/** The library adds `output_text` to whole answers only. */
function textOf({ output }: Response): string {
  return output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('')
}

function endingOf(response: Response, calls: readonly Call[]): Answer['ending'] {
  if (response.incomplete_details?.reason === 'max_output_tokens') return 'length'
  if (response.status !== 'completed') return 'other'
  return calls.length > 0 ? 'tools' : 'stop'
}
