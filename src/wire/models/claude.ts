// What each Claude model accepts in a translated request: older models lack the settings of newer ones, and newer ones
// refuse some settings of older ones. In passthrough the provider judges.
import type { Effort, TargetModel } from '../../core/request.ts'
import { knownNames } from '../../core/request.ts'

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
const NAME = /claude-(opus|sonnet|haiku|fable)-(\d+)(?:-(\d\d?)(?!\d))?/
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
  const [, , major, minor = '0'] = NAME.exec(model) ?? []
  return major === undefined ? undefined : Number(major) + Number(minor) / 10
}

function claudeNamed(model: string): Claude | undefined {
  const version = claudeVersion(model)
  if (version === undefined) return undefined
  const isOld = OLD_NAME.test(model)
  const line = NAME.exec(model)?.[1] ?? ''
  const isLarge = line === 'opus' || line === 'sonnet'
  return {
    reasons: !isOld || REASONING_OLD_NAME.test(model),
    isAdaptive: version >= 4.6,
    efforts: effortsOf(line, version),
    takesSampling: version < 5 && !(line === 'opus' && version >= 4.7),
    takesDisabled: line !== 'fable' && !(isLarge && version >= 5.5),
    takesForcedTool: !(line === 'fable' && version >= 5.1) && !(isLarge && version >= 5.5),
  }
}

function effortsOf(line: string, version: number): readonly Effort[] {
  if (version >= 5 || (line === 'opus' && version >= 4.7)) return ANY.efforts
  if (version >= 4.6) return ['low', 'medium', 'high', 'max']
  return line === 'opus' && version >= 4.5 ? ['low', 'medium', 'high'] : []
}
