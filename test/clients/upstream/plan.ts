// What the scripted model does. Its plan stands in the user's message, in a form that no client rewrites, so that every
// client in every language gets the same answers: words, one tool call after another, JSON, or a failure.
import type { Json, JsonObject } from '../../../src/core/json.ts'

export type Plan = {
  /** Called one after the other, each once the one before has its result. */
  readonly calls?: readonly { readonly name: string; readonly input: JsonObject }[]
  /** What it says in the end, followed by the results of its calls. */
  readonly say?: string
  /** What it says round by round, to who answers it with messages. */
  readonly rounds?: readonly string[]
  /** What it answers to who asks for an object: by a schema, or by a tool that must be called. */
  readonly object?: JsonObject
  /** Fails instead, with this status, or in the middle of the words. */
  readonly fail?: number | 'midway'
}

/** What the model has been sent, whatever the format. */
export type Seen = {
  /** Every text, tool result and answer of its own, in order. */
  readonly parts: readonly Part[]
  readonly tools: readonly string[]
  /** The tool that must be called. */
  readonly forced: string | undefined
  readonly schema: Json | undefined
}

export type Part = { readonly kind: 'text' | 'result' | 'answer'; readonly text: string }

/** What comes next: words or a call. */
export type Turn =
  | { readonly words: readonly string[]; readonly isCut: boolean }
  | { readonly call: { readonly name: string; readonly input: JsonObject } }

/** What a provider refuses, in its own words. */
export class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const MARK = /\[\[plan ([\w-]+)\]\]/

export function written(plan: Plan): string {
  return `[[plan ${Buffer.from(JSON.stringify(plan)).toString('base64url')}]]`
}

export function next(seen: Seen): Turn {
  const at = seen.parts.findLastIndex(({ kind, text }) => kind === 'text' && MARK.test(text))
  const [, code = ''] = MARK.exec(seen.parts[at]?.text ?? '') ?? []
  if (code === '') return { words: ['Hello', '.'], isCut: false }
  const plan = JSON.parse(Buffer.from(code, 'base64url').toString()) as Plan
  if (typeof plan.fail === 'number')
    throw new Refusal(plan.fail, `planned failure with status ${plan.fail}`)
  const results = seen.parts.slice(at).filter(({ kind }) => kind === 'result')
  const call = plan.calls?.[results.length]
  if (call !== undefined)
    // Agents also have their conversations summed up, without tools.
    return seen.tools.includes(call.name) ? { call } : { words: ['A', ' title'], isCut: false }
  if (plan.object !== undefined) {
    const [only = ''] = seen.tools
    if (seen.schema !== undefined) return said(JSON.stringify(plan.object))
    const forced = seen.forced ?? (seen.tools.length === 1 ? only : undefined)
    if (forced !== undefined) return { call: { name: forced, input: plan.object } }
    return said('nobody asked for an object')
  }
  if (plan.rounds !== undefined) {
    const told = new Set(plan.rounds.map((text) => text.trim()))
    const past = seen.parts
      .slice(at)
      .filter(({ kind, text }) => kind === 'answer' && told.has(text.trim()))
    return said(plan.rounds[past.length] ?? 'Done.')
  }
  const told = results.map(({ text }) => `[${text.trim()}]`).join(' ')
  const turn = said([plan.say ?? 'Done.', told].filter((text) => text !== '').join(' '))
  return { ...turn, isCut: plan.fail === 'midway' }
}

function said(text: string) {
  return { words: text.split(/(?<= )/), isCut: false }
}

/** A token for every four bytes; what exactly is counted matters to nobody. */
export function tokensIn(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / 4)
}

/** Signatures and ids that were handed out: what comes back must be among them. */
export class Issued {
  readonly #known = new Set<string>()

  make(prefix: string): string {
    const made = `${prefix}${this.#known.size}x${Math.random().toString(36).slice(2)}`
    this.#known.add(made)
    return made
  }

  check(value: unknown, complaint: string): void {
    if (typeof value !== 'string' || !this.#known.has(value)) throw new Refusal(400, complaint)
  }
}

/** Refuses members that the provider does not know, as those do that check their requests. */
export function onlyKnown(object: JsonObject, names: string, where: string): void {
  const known = new Set(names.split(' '))
  for (const name of Object.keys(object))
    if (!known.has(name)) throw new Refusal(400, `Unknown parameter: '${where}${name}'.`)
}

/** Strict schemas are closed, with every property required. */
export function checkStrict(schema: Json | undefined, where: string): void {
  if (typeof schema !== 'object' || schema === null) return
  if (Array.isArray(schema)) {
    for (const each of schema) checkStrict(each, where)
    return
  }
  const { type, properties, additionalProperties, required } = schema as JsonObject
  if (type === 'object' || properties !== undefined) {
    if (additionalProperties !== false)
      throw new Refusal(
        400,
        `${where}: 'additionalProperties' is required to be supplied and to be false.`,
      )
    const missing = Object.keys((properties ?? {}) as JsonObject).filter(
      (name) => !(required as readonly string[] | undefined)?.includes(name),
    )
    if (missing.length > 0)
      throw new Refusal(
        400,
        `${where}: 'required' is required to include every key; missing '${missing[0]}'.`,
      )
  }
  for (const each of Object.values(schema)) checkStrict(each, where)
}
