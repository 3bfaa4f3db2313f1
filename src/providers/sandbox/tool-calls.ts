// Which tools the sandbox calls, and with what input: those that the steering names, the message asks for, or the tool
// choice forces. Once the tools have answered it calls only forced ones, so that agents come to an end.
import { createHash } from 'node:crypto'

import { invalidRequest } from '../../core/errors.ts'
import { objectOf } from '../../core/json.ts'
import type { Conversation, Tool } from '../../core/request.ts'
import { forcesTool } from '../../wire/tool-choice.ts'
import { readHints } from './hints.ts'
import { instanceOf } from './schema-instance.ts'
import type { Script } from './script.ts'
import { CALLS_MAX } from './script.ts'
import type { Turn } from './turn.ts'

export type ToolCall = {
  readonly id: string
  readonly name: string
  readonly custom: boolean
  readonly input: string
}

export function chooseCalls(
  request: Conversation,
  turn: Turn,
  script: Script,
): readonly ToolCall[] {
  const tools = callableTools(request)
  const wanted = wantedTools(tools, turn, script)
  const chosen = wanted.length === 0 && forcesTool(request) ? forcedTool(tools, turn) : wanted
  const callsMax = request.parallelToolCalls === false ? 1 : CALLS_MAX
  return chosen.slice(0, callsMax).map((tool, index) => {
    const input = inputFor(tool, turn, script)
    // The same request gives the same ids; another turn or another call gives different ones.
    const name = [request.messages.length, index, tool.name, input].join('\n')
    const id = `call_${createHash('sha256').update(name).digest('hex').slice(0, 24)}`
    return { id, name: tool.name, custom: tool.type === 'custom', input }
  })
}

function callableTools({ tools, toolChoice }: Conversation): readonly Tool[] {
  switch (toolChoice?.type) {
    case 'none':
      return []
    case 'tool':
      return [named(tools, toolChoice.name, 'tool_choice')]
    case 'allowed':
      return toolChoice.names.map((name) => named(tools, name, 'tool_choice'))
    case 'auto':
    case 'required':
    case undefined:
      return tools
  }
}

function wantedTools(tools: readonly Tool[], turn: Turn, script: Script): readonly Tool[] {
  if (turn.isAnswered || tools.length === 0) return []
  if (script.tool !== undefined) return script.tool.map((name) => named(tools, name, 'sandbox'))
  const asked = tools.filter(({ name }) => isAskedFor(name, turn.text))
  if (asked.length > 0) return asked
  if (ALL_TOOLS.test(turn.text)) return tools
  if (ANY_TOOL.test(turn.text)) return tools.slice(0, 1)
  return tools.filter(({ name }) => isTopic(name, turn.text))
}

/** A tool not called yet, if there is one: agents that force calls have a tool that ends their run. */
function forcedTool(tools: readonly Tool[], { called }: Turn): readonly Tool[] {
  const fresh = tools.filter(({ name }) => !called.has(name))
  return (fresh.length > 0 ? fresh : tools).slice(0, 1)
}

function named(tools: readonly Tool[], name: string, param: string): Tool {
  const tool = tools.find((candidate) => candidate.name === name)
  if (tool !== undefined) return tool
  throw invalidRequest(param, `${param} names the tool "${name}", which is not among the tools`)
}

const ASKING = /\b(?:use|using|call|calling|run|invoke|execute)\b/i
const DECLINING = /\b(?:not|never|without|don['’]t)\b/i
const ANY_TOOL = /\b(?:use|call|run|invoke)\s(?:the|your|a|this)\s(?:tool|function)\b/i
const ALL_TOOLS = /\b(?:use|call|run|invoke)\s(?:both|all)\s(?:the\s|your\s)?(?:tools|functions)\b/i

/** "Use the tool NAME", "call NAME and OTHER": the name itself, in a sentence that asks for it. */
function isAskedFor(name: string, text: string): boolean {
  if (!text.includes(name)) return false
  const mention = new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`)
  return text.split(/[.!?]\s|\n/).some((sentence) => {
    const before = sentence.slice(0, mention.exec(sentence)?.index ?? 0)
    return ASKING.test(before) && !DECLINING.test(before)
  })
}

/** "What is the weather in Paris?" is for `get_weather`: a verb of looking up, then words that the text contains. */
function isTopic(name: string, text: string): boolean {
  const [verb, ...topic] = name.split(/[_-]|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase())
  if (!/^(?:get|fetch|find|lookup|search)$/.test(verb ?? '') || topic.length === 0) return false
  const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}_-]+/gu))
  return topic.every((word) => words.has(word))
}

function inputFor(tool: Tool, turn: Turn, script: Script): string {
  if (script.args !== undefined) return JSON.stringify(script.args)
  const hints = readHints(turn.text.replaceAll(tool.name, ' '))
  if (tool.type === 'custom') return hints.phrases[0] ?? ''
  const instance = instanceOf(tool.schema, hints)
  return JSON.stringify(objectOf(instance))
}
