// What families of models accept in a translated request, as far as their names tell, and the reasoning effort that
// each is sent. In passthrough the provider judges.
import type { Conversation, Effort, Reasoning, TargetModel } from '../../core/request.ts'
import { EFFORTS, knownNames } from '../../core/request.ts'

// OpenAI.

type OpenAi = {
  /** The efforts it accepts, from the least to the most; empty = it does not reason, or its effort cannot be set. */
  readonly efforts: readonly Effort[]
  /** Whether it reasons by default. */
  readonly reasonsUnasked: boolean
}

/** `o3-2025-04-16`, `gpt-5`, `openai/gpt-5.4-mini`, `gpt-4o`, `ft:gpt-4.1-nano:org::id`, and Azure's `gpt-35-turbo`. */
const OPENAI_NAME = /^(?:ft:|[^/]+\/)*(?:(o)\d|(?:chat)?gpt-(\d+)(?:\.(\d+))?o?)(?![\w.])/
/** The chat variants do not reason like the others. */
const CHAT = /chat/
/** The reasoning of the pro and codex variants cannot be turned off. */
const PRO = /-pro\b/
const CODEX = /-codex\b/

/** Undefined for a name that is not OpenAI's. */
export function openAiOf(target: TargetModel): OpenAi | undefined {
  return knownNames(target)
    .map(openAiNamed)
    .find((openAi) => openAi !== undefined)
}

/** 5.4 for `gpt-5.4-mini`; undefined for a name that is not a GPT's. */
export function gptVersion(model: string): number | undefined {
  const [, , major, minor = '0'] = OPENAI_NAME.exec(model) ?? []
  if (major === undefined) return undefined
  return major === '35' ? 3.5 : Number(major) + Number(minor) / 10
}

/** By name: every translated request asks several times, and names are those of targets, so they are few. */
const named = new Map<string, OpenAi | undefined>()
const NAMED_MAX = 1000

function openAiNamed(model: string): OpenAi | undefined {
  const known = named.get(model)
  if (known !== undefined || named.has(model)) return known
  if (named.size >= NAMED_MAX) named.clear()
  const openAi = readName(model)
  named.set(model, openAi)
  return openAi
}

function readName(model: string): OpenAi | undefined {
  if (OPENAI_NAME.exec(model)?.[1] !== undefined) {
    return { efforts: ['low', 'medium', 'high'], reasonsUnasked: true }
  }
  const version = gptVersion(model)
  if (version === undefined) return undefined
  if (version < 5 || CHAT.test(model)) return { efforts: [], reasonsUnasked: false }
  const isForWork = PRO.test(model) || CODEX.test(model)
  return {
    efforts: openAiEfforts(model, version),
    // Versions 5.1 to 5.4 reason only on request.
    reasonsUnasked: isForWork || version < 5.1 || version >= 5.5,
  }
}

function openAiEfforts(model: string, version: number): readonly Effort[] {
  const most: readonly Effort[] = [
    ...(version >= 5.2 || model.includes('-codex-max') ? (['xhigh'] as const) : []),
    ...(version >= 5.6 ? (['max'] as const) : []),
  ]
  if (PRO.test(model)) return version < 5.1 ? ['high'] : ['medium', 'high', ...most]
  if (CODEX.test(model)) return ['low', 'medium', 'high', ...most]
  return [version < 5.1 ? 'minimal' : 'none', 'low', 'medium', 'high', ...most]
}

/**
 * OpenAI refuses a request for encrypted reasoning to a model that does not reason. All of those have known names, but
 * the name of a deployment may hide anything. It is not asked: the model then only forgets its earlier reasoning.
 */
export function givesEncryptedReasoning(target: TargetModel): boolean {
  const { reasons, alsoKnownAs } = target.traits ?? {}
  const openAi = openAiOf(target)
  return reasons ?? (openAi === undefined ? alsoKnownAs === undefined : openAi.efforts.length > 0)
}

// Claude: older models lack the settings of newer ones, and newer ones refuse some settings of older ones.

type Claude = {
  readonly reasons: boolean
  /** Whether it chooses itself how much to reason; if not, it needs a token budget. */
  readonly isAdaptive: boolean
  /** The efforts it accepts, from the least to the most; empty = none. */
  readonly efforts: readonly Effort[]
  /** Whether it accepts temperature, top_p and top_k. */
  readonly takesSampling: boolean
  /** Whether its reasoning can be turned off. */
  readonly takesDisabled: boolean
  /** Whether it accepts a forced tool call. */
  readonly takesForcedTool: boolean
}

/** A name without a version may stand for any model, so everything is assumed to be accepted. */
const ANY: Claude = {
  reasons: true,
  isAdaptive: true,
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  takesSampling: true,
  takesDisabled: true,
  takesForcedTool: true,
}

/** `claude-opus-4-8`, `claude-opus-4-5@20251101`, `us.anthropic.claude-sonnet-4-20250514-v1:0`. */
const CLAUDE_NAME = /claude-(opus|sonnet|haiku|fable)-(\d+)(?:-(\d\d?)(?!\d))?/
/** Names up to 3.7, the only one of these models that reasons. */
const OLD_NAME = /claude-(?:2|3|instant)/
const REASONING_OLD_NAME = /claude-3-7/

export function claudeOf(target: TargetModel): Claude {
  const claude =
    knownNames(target)
      .map(claudeNamed)
      .find((named) => named !== undefined) ?? ANY
  const isPlain = target.traits?.reasons === false
  return isPlain ? { ...claude, reasons: false, efforts: [] } : claude
}

/** 4.5 for `claude-sonnet-4-5@20250929`, 3 for everything before 4; undefined for a name without a version. */
export function claudeVersion(model: string): number | undefined {
  if (OLD_NAME.test(model)) return 3
  const [, , major, minor = '0'] = CLAUDE_NAME.exec(model) ?? []
  return major === undefined ? undefined : Number(major) + Number(minor) / 10
}

function claudeNamed(model: string): Claude | undefined {
  const version = claudeVersion(model)
  if (version === undefined) return undefined
  const isOld = OLD_NAME.test(model)
  const line = CLAUDE_NAME.exec(model)?.[1] ?? ''
  const isLarge = line === 'opus' || line === 'sonnet'
  return {
    reasons: !isOld || REASONING_OLD_NAME.test(model),
    isAdaptive: version >= 4.6,
    efforts: claudeEfforts(line, version),
    takesSampling: version < 5 && !(line === 'opus' && version >= 4.7),
    takesDisabled: line !== 'fable' && !(isLarge && version >= 5.5),
    takesForcedTool: !(line === 'fable' && version >= 5.1) && !(isLarge && version >= 5.5),
  }
}

function claudeEfforts(line: string, version: number): readonly Effort[] {
  if (version >= 5 || (line === 'opus' && version >= 4.7)) return ANY.efforts
  if (version >= 4.6) return ['low', 'medium', 'high', 'max']
  return line === 'opus' && version >= 4.5 ? ['low', 'medium', 'high'] : []
}

// Gemini: generations differ in how reasoning is configured, in what a conversation must bring back of it, and in whether
// they fetch what is at a URL.

type Gemini = {
  readonly reasons: boolean
  /** Whether reasoning can be turned off. */
  readonly takesDisabled: boolean
}

export function geminiOf({ model, traits }: TargetModel): Gemini {
  return {
    reasons: traits?.reasons !== false && !isOfOldKind(model),
    takesDisabled: generationOf(model) < 3 && !isPro(model),
  }
}

/** 2 for gemini-2.5-flash, 3 for gemini-3.1-pro-preview; 0 when the name does not show it. */
export function generationOf(model: string): number {
  return Number(/(?:^|\/)gemini-(\d+)/.exec(model)?.[1] ?? 0)
}

/** Gemini models before 2.5 neither reason nor fetch anything, nor does any Gemma. */
function isOfOldKind(model: string): boolean {
  return /gemini-(?:1|2\.0)|gemma/.test(model)
}

/** Films are watched and heard in full, whatever they are declared as: no hold covers them as an image. */
const FILMS = /(?:^|\.)(?:youtube\.com|youtube-nocookie\.com|youtu\.be)$/

/** Whether a model fetches an image or a file from this URL. */
export function takesUrl(model: string, url: string): boolean {
  if (isOfOldKind(model) || !URL.canParse(url)) return false
  return !FILMS.test(new URL(url).hostname.replace(/\.$/, ''))
}

export function isPro(model: string): boolean {
  return model.includes('-pro')
}

// The reasoning effort, in formats that express it as a word: the nearest one that the model accepts. Providers refuse
// any other word, so as little as possible is assumed about unknown models.

/** Accepted by every server that accepts any effort. */
const COMMON: readonly Effort[] = ['low', 'medium', 'high']
/** Models of vendors other than OpenAI that accept something else. */
const OTHERS: readonly (readonly [RegExp, readonly Effort[]])[] = [
  [/^mistral-(?:small|medium)/, ['none', 'high']],
  [/^qwen\/qwen3-32b$/, ['none']],
  [/^sandbox-reasoner/, EFFORTS],
]

type ReasoningTarget = TargetModel & Pick<Conversation, 'reasoning'>

export function asksForReasoning({ reasoning }: Pick<Conversation, 'reasoning'>): boolean {
  return reasoning !== undefined && reasoning.effort !== 'none'
}

export function asksForNoReasoning({ reasoning }: Pick<Conversation, 'reasoning'>): boolean {
  return reasoning?.effort === 'none'
}

/** The effort to send; undefined = none. */
export function toldEffort(target: ReasoningTarget): Effort | undefined {
  const asked = effortOf(target.reasoning)
  const efforts = knownEfforts(target)
  // Older servers do not know `none`, and most of their models do not reason anyway.
  if (asked === undefined || (asked === 'none' && efforts === undefined)) return undefined
  return nearestEffort(asked, efforts ?? COMMON)
}

/** Whether the model is known to have no reasoning that could be turned up or off. */
export function isPlain(target: TargetModel): boolean {
  return knownEfforts(target)?.length === 0
}

/** Whether a request for reasoning, or for a certain effort, has no effect on the model. */
export function ignoresEffort(target: ReasoningTarget): boolean {
  if (!asksForReasoning(target)) return false
  const isWordless = effortOf(target.reasoning) === undefined
  return isPlain(target) || (!isWordless && toldEffort(target) === undefined)
}

/** Whether a model that is asked not to reason may reason anyway. */
export function reasonsAnyway(target: ReasoningTarget): boolean {
  return asksForNoReasoning(target) && !isPlain(target) && toldEffort(target) !== 'none'
}

/** Whether a model may reason, although nothing says that it must. */
export function mayReason(target: ReasoningTarget): boolean {
  if (asksForNoReasoning(target)) return reasonsAnyway(target)
  if (isPlain(target)) return false
  return asksForReasoning(target) || (openAiOf(target)?.reasonsUnasked ?? true)
}

/** The highest effort that is not above the requested one, else the lowest; never `none` for a request to reason. */
export function nearestEffort(asked: Effort, efforts: readonly Effort[]): Effort | undefined {
  if (efforts.includes(asked)) return asked
  const rank = EFFORTS.indexOf(asked)
  const some = efforts.filter((effort) => effort !== 'none')
  return some.findLast((effort) => EFFORTS.indexOf(effort) < rank) ?? some[0]
}

/** A token budget counts as the nearest effort. */
export function effortOf(reasoning: Reasoning | undefined): Effort | undefined {
  if (reasoning?.effort !== undefined || reasoning?.tokensMax === undefined) {
    return reasoning?.effort
  }
  if (reasoning.tokensMax >= 4096) return 'high'
  if (reasoning.tokensMax >= 2048) return 'medium'
  return reasoning.tokensMax >= 1024 ? 'low' : 'minimal'
}

/** Undefined for unknown models. */
function knownEfforts(target: TargetModel): readonly Effort[] | undefined {
  const { reasons } = target.traits ?? {}
  if (reasons === false) return []
  const names = knownNames(target)
  const [, others] = OTHERS.find(([pattern]) => names.some((name) => pattern.test(name))) ?? []
  return openAiOf(target)?.efforts ?? others ?? (reasons === true ? COMMON : undefined)
}

/** OpenAI's models that reason refuse temperature, top_p and logprobs; from GPT-5.1 on only while they do. */
export function takesSampling(target: ReasoningTarget): boolean {
  const openAi = openAiOf(target)
  if (openAi === undefined || openAi.efforts.length === 0) return true
  const effort = toldEffort(target)
  return effort === undefined ? !openAi.reasonsUnasked : effort === 'none'
}
