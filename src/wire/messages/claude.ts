// What each Claude model takes of a translated request: older ones do not know what newer ones are told, and newer ones
// refuse what older ones were. In the client's own words the provider judges.

export type Claude = {
  /** Whether it chooses itself how much to think; if not, it is given a number of tokens. */
  readonly isAdaptive: boolean
  readonly takesEffort: boolean
  /** temperature, top_p, top_k. */
  readonly takesSampling: boolean
  /** Whether it can be kept from thinking. */
  readonly takesDisabled: boolean
  /** Whether it can be made to call a tool. */
  readonly takesForcedTool: boolean
}

/** Of a name that says nothing, anything may be true. */
const ANY: Claude = {
  isAdaptive: true,
  takesEffort: true,
  takesSampling: true,
  takesDisabled: true,
  takesForcedTool: true,
}

/** `claude-opus-4-8`, `claude-opus-4-5@20251101`, `us.anthropic.claude-sonnet-4-20250514-v1:0`. */
const NAME = /claude-(opus|sonnet|haiku|fable)-(\d+)(?:-(\d\d?)(?!\d))?/
/** As they were called until 3.7: all of them older than anything below. */
const OLD_NAME = /claude-(2|3|instant)/

export function claudeOf(model: string): Claude {
  const [, line = '', major = '', minor = '0'] = NAME.exec(model) ?? []
  const isOld = OLD_NAME.test(model)
  if (line === '' && !isOld) return ANY
  const version = isOld ? 3 : Number(major) + Number(minor) / 10
  const isLarge = line === 'opus' || line === 'sonnet'
  return {
    isAdaptive: version >= 4.6,
    takesEffort: version >= 4.6 || (line === 'opus' && version >= 4.5),
    takesSampling: version < 5 && !(line === 'opus' && version >= 4.7),
    takesDisabled: line !== 'fable' && !(isLarge && version >= 5.5),
    takesForcedTool: !(line === 'fable' && version >= 5.1) && !(isLarge && version >= 5.5),
  }
}
