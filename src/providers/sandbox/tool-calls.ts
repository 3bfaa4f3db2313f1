// Which tools the sandbox calls, and with what input: those that the steering names, the message asks for, or the tool
// choice forces. Once the tools have answered it calls only forced ones, so that agents come to an end.
import { invalidRequest } from '../../core/errors.ts'
import { objectOf } from '../../core/json.ts'
import type { Conversation, Tool } from '../../core/request.ts'
import { forcesTool } from '../../wire/content/tools.ts'
import type { Prompt } from './prompt.ts'
import type { StepBudget } from './schema-instance.ts'
import { instanceOf } from './schema-instance.ts'
import { readHints } from './schema-values.ts'
import type { Script } from './script.ts'
import { CALLS_MAX } from './script.ts'

export type ToolCall = {
  readonly name: string
  readonly custom: boolean
  readonly input: string
}

type Means = {
  readonly script: Script
  /** What filling schemas may still cost. */
  readonly budget: StepBudget
}

export function chooseCalls(
  request: Conversation,
  prompt: Prompt,
  { script, budget }: Means,
): readonly ToolCall[] {
  const tools = callableTools(request)
  const wanted = wantedTools(tools, prompt, script)
  const chosen = wanted.length === 0 && forcesTool(request) ? forcedTool(tools, prompt) : wanted
  const callsMax = request.parallelToolCalls === false ? 1 : CALLS_MAX
  return chosen.slice(0, callsMax).map((tool) => ({
    name: tool.name,
    custom: tool.type === 'custom',
    input: inputFor(tool, prompt, { script, budget }),
  }))
}

function callableTools({ tools, toolChoice }: Conversation): readonly Tool[] {
  switch (toolChoice?.type) {
    case 'none':
      return []
    case 'tool':
      return [finder(tools, 'tool_choice')(toolChoice.name)]
    case 'allowed':
      return toolChoice.names.map(finder(tools, 'tool_choice'))
    case 'auto':
    case 'required':
    case undefined:
      return tools
  }
}

function wantedTools(tools: readonly Tool[], prompt: Prompt, script: Script): readonly Tool[] {
  if (prompt.isAnswered || tools.length === 0) return []
  if (script.tool !== undefined) return script.tool.map(finder(tools, 'sandbox'))
  const requested = namesAskedFor(prompt.text)
  const asked = tools.filter(({ name }) => requested.has(name))
  if (asked.length > 0) return asked
  if (ALL_TOOLS.test(prompt.text)) return tools
  if (ANY_TOOL.test(prompt.text)) return tools.slice(0, 1)
  const words = new Set(prompt.text.toLowerCase().match(/[\p{L}\p{N}_-]+/gu))
  return tools.filter(({ name }) => isTopic(name, words))
}

/** A tool not called yet, if there is one: agents that force calls have a tool that ends their run. */
function forcedTool(tools: readonly Tool[], { called }: Prompt): readonly Tool[] {
  const fresh = tools.filter(({ name }) => !called.has(name))
  return (fresh.length > 0 ? fresh : tools).slice(0, 1)
}

/** Finds tools by name. */
function finder(tools: readonly Tool[], param: string): (name: string) => Tool {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return (name) => {
    const tool = byName.get(name)
    if (tool !== undefined) return tool
    throw invalidRequest(param, `${param} names the tool "${name}", which is not among the tools`)
  }
}

const ASKING = /(?<![\w-])(?:use|using|call|calling|run|invoke|execute)(?![\w-])/i
const DECLINING = /(?<![\w-])(?:not|never|without|don['’]t)(?![\w-])/i
const ANY_TOOL = /\b(?:use|call|run|invoke)\s(?:the|your|a|this)\s(?:tool|function)\b/i
const ALL_TOOLS = /\b(?:use|call|run|invoke)\s(?:both|all)\s(?:the\s|your\s)?(?:tools|functions)\b/i

/** "Use the tool NAME", "call NAME and OTHER": the words of each sentence after it asks, and before it declines. */
function namesAskedFor(text: string): ReadonlySet<string> {
  const names = new Set<string>()
  for (const sentence of text.split(/[.!?]\s|\n/)) {
    const [willing = ''] = sentence.split(DECLINING, 1)
    const asking = ASKING.exec(willing)
    const meant = asking === null ? '' : willing.slice(asking.index + asking[0].length)
    // Names may have dots and slashes inside, but a sentence may also end with one.
    for (const [name] of meant.matchAll(/[\w-]+/g)) names.add(name)
    for (const [name] of meant.matchAll(/[\w-]+(?:[./:][\w-]+)+/g)) names.add(name)
  }
  return names
}

/** "What is the weather in Paris?" is for `get_weather`: a verb of looking up, then words that the text contains. */
function isTopic(name: string, words: ReadonlySet<string>): boolean {
  const [verb, ...topic] = name.split(/[_-]|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase())
  if (!/^(?:get|fetch|find|lookup|search)$/.test(verb ?? '') || topic.length === 0) return false
  return topic.every((word) => words.has(word))
}

function inputFor(tool: Tool, prompt: Prompt, { script, budget }: Means): string {
  if (script.args !== undefined) return JSON.stringify(script.args)
  const hints = readHints(prompt.text.replaceAll(tool.name, ' '))
  if (tool.type === 'custom') return hints.phrases[0] ?? ''
  const what = `the schema of the tool "${tool.name}" (steer it with args={…} instead)`
  return JSON.stringify(objectOf(instanceOf(tool.schema, { hints, budget, param: 'tools', what })))
}
