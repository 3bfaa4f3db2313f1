// The whole message that the frames of a stream add up to, assembled as the SDKs do it.
import type { Json, JsonObject } from '../../core/json.ts'
import type { Frame, FrameDelta } from './frame-writer.ts'
import { toolInputObject } from '../tool-input.ts'

export function assembleMessage(frames: readonly Frame[]): JsonObject {
  let message: JsonObject = {}
  const blocks: Block[] = []
  for (const frame of frames) {
    switch (frame.type) {
      case 'message_start':
        message = frame.message
        break
      case 'content_block_start':
        blocks.push({ ...frame.content_block })
        break
      case 'content_block_delta':
        extend(blocks[frame.index] ?? {}, frame.delta)
        break
      case 'message_delta':
        message = { ...message, ...frame.delta, usage: frame.usage }
        break
      case 'content_block_stop':
      case 'message_stop':
      case 'ping':
    }
  }
  return { ...message, content: blocks.map(completed) }
}

/** A block that grows. Tool input is collected as text. */
type Block = { [name: string]: Json | undefined }

function extend(block: Block, delta: FrameDelta): void {
  switch (delta.type) {
    case 'text_delta':
      block['text'] = textOf(block['text']) + delta.text
      break
    case 'thinking_delta':
      block['thinking'] = textOf(block['thinking']) + delta.thinking
      break
    case 'input_json_delta':
      block['input'] = textOf(block['input']) + delta.partial_json
      break
    case 'signature_delta':
      block['signature'] = delta.signature
      break
    case 'citations_delta':
      // In place: copying a long list for every citation would stall all other requests.
      ;((block['citations'] ??= []) as Json[]).push(delta.citation)
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function completed(block: Block): Block {
  const { input } = block
  return typeof input === 'string' ? { ...block, input: toolInputObject(input) } : block
}
