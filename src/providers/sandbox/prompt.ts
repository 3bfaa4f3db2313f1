// What the sandbox's answer is about: the last user message, the tool results since the last answer, and what the
// instructions demand of every answer.
import type {
  Conversation,
  FilePart,
  ImagePart,
  Message,
  ToolMessage,
  UserPart,
} from '../../core/request.ts'
import { toolCallsIn } from '../../wire/content/tools.ts'
import { JSON_ONLY } from '../../wire/content/turns.ts'
import { lastUserText, withoutScript } from './script.ts'

export type Prompt = {
  /** The last user text without the steering line, shortened. */
  readonly text: string
  readonly attachments: readonly Attachment[]
  readonly results: readonly ToolResult[]
  /** Tools have answered: the model must speak now, or an agent would never come to an end. */
  readonly isAnswered: boolean
  /** The tools called since the last user message. */
  readonly called: ReadonlySet<string>
  /** The answer that the instructions ask for, whatever the user says. */
  readonly fixed: string | undefined
  /** The instructions ask for a JSON object, as translation words it for formats without a JSON mode. */
  readonly wantsJson: boolean
}

export type Attachment = Exclude<UserPart, { type: 'text' }>
export type ToolResult = {
  readonly name: string
  readonly text: string
  readonly attachments: readonly (ImagePart | FilePart)[]
  readonly isError: boolean
}

export function readPrompt(request: Conversation): Prompt {
  const { messages } = request
  const lastUser = messages.findLast((message) => message.role === 'user')
  const afterUser = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  const afterAnswer = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
  const names = callNames(messages)
  const results = afterAnswer.flatMap((message) =>
    message.role === 'tool' ? [resultOf(message, names)] : [],
  )
  const instructions = messages.flatMap((message) =>
    message.role === 'system' || message.role === 'developer'
      ? message.parts.map((part) => part.text)
      : [],
  )
  return {
    text: spokenPart(withoutScript(lastUserText(request))),
    attachments: (lastUser?.parts ?? []).filter((part) => part.type !== 'text'),
    results,
    isAnswered: results.length > 0,
    called: new Set(callNames(afterUser).values()),
    fixed: dictatedIn(instructions.join('\n')),
    wantsJson: instructions.includes(JSON_ONLY),
  }
}

/** How much of each end of a long text is read. */
const TEXT_CHARACTERS_MAX = 10_000

/** The user's own words, without the context that agents wrap in tags; all of it if there is nothing else. */
function spokenPart(text: string): string {
  const ends =
    text.length <= 2 * TEXT_CHARACTERS_MAX
      ? text
      : `${text.slice(0, TEXT_CHARACTERS_MAX)}\n${text.slice(-TEXT_CHARACTERS_MAX)}`.toWellFormed()
  return withoutContext(ends).trim() || ends.trim()
}

function withoutContext(text: string): string {
  let kept = ''
  let position = 0
  const unclosed = new Set<string>()
  for (const { index, 1: name = '' } of text.matchAll(/<([a-z][\w-]*)>/g)) {
    if (index < position || unclosed.has(name)) continue
    const closing = `</${name}>`
    const end = text.indexOf(closing, index)
    if (end < 0) unclosed.add(name)
    if (end < 0) continue
    kept += text.slice(position, index)
    position = end + closing.length
  }
  return kept + text.slice(position)
}

function callNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  return new Map(toolCallsIn(messages).map(({ id, name }) => [id, name]))
}

function resultOf(message: ToolMessage, names: ReadonlyMap<string, string>): ToolResult {
  return {
    name: names.get(message.callId) ?? message.callId,
    text: message.parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n'),
    attachments: message.parts.filter((part) => part.type !== 'text'),
    isError: message.isError === true,
  }
}

const ONLY = String.raw`\b(?:only|just|exactly|always|verbatim|nothing but)\b`
const VERB = String.raw`(?:${ONLY} )?\b(?:say|reply|respond|answer|output|return)\b`

/** Each has the answer in its group. */
const WAYS: readonly RegExp[] = [
  // Reply with exactly: all is well
  new RegExp(
    String.raw`${VERB}[^.:"“]{0,40}${ONLY}(?: with| this| the| following| words?| text| sentence){0,4}:\s*(\S.*)`,
    'i',
  ),
  // Always answer "no"
  new RegExp(String.raw`${VERB}[^.:"“]{0,60}["“]([^"”]+)["”]`, 'i'),
  // Answer only with the word PONG, and nothing else
  new RegExp(
    String.raw`${VERB}[^.:]{0,30}\b(?:with|only|just|exactly) the (?:exact |single )?(?:words?|phrase) ([^.!,]+?)(?=,|\.|!| and nothing| to every|$)`,
    'i',
  ),
  // Answer only with PONG
  new RegExp(
    String.raw`${VERB}(?: with| ${ONLY}){1,3} ((?-i:\p{Lu}[\p{Lu}\p{N}_-]{1,30}))(?![\p{L}\p{N}])`,
    'iu',
  ),
]
const EXCLUSIVE = new RegExp(String.raw`${ONLY}|\bthe (?:exact |single )?(?:words?|phrase)\b`, 'i')
const AND_NOTHING_ELSE = /^,? and nothing (?:else|more)\b/i
const DEPENDS = /\b(?:if|when|whenever|unless|until|once|not|never|don['’]t|or)\b/i
/** "Answer only with JSON" names the form of an answer, not the answer. */
const FORM = /^(?:JSON|XML|YAML|CSV|HTML|SQL|TOML|UTF|ASCII|YES|NO)$/

/** The long instructions of agents mention many answers, and ask for none to everything. */
const CHARACTERS_MAX = 2_000

/**
 * The one answer that instructions ask for, word for word: "Answer only with the word PONG". What depends on a
 * condition, or leaves a choice, asks for no such thing.
 */
export function dictatedIn(instructions: string): string | undefined {
  if (instructions.length > CHARACTERS_MAX) return undefined
  for (const line of instructions.split('\n')) {
    for (const way of WAYS) {
      const found = way.exec(line)
      const said = found?.[1]?.trim()
      if (found === null || said === undefined || said === '' || FORM.test(said)) continue
      const before =
        line
          .slice(0, found.index)
          .split(/[.!?]\s/)
          .at(-1) ?? ''
      const after = line.slice(found.index + found[0].length).split(/[.!?]/, 1)[0] ?? ''
      const asked = found[0].slice(0, found[0].lastIndexOf(said))
      if (!EXCLUSIVE.test(asked) && !AND_NOTHING_ELSE.test(after)) continue
      if (!DEPENDS.test(before) && !DEPENDS.test(after)) return unquoted(said)
    }
  }
  return undefined
}

export function unquoted(text: string): string {
  return /^["'“`](.+)["'”`][.!]?$/.exec(text)?.[1] ?? text
}
