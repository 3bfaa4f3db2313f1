// Instructions that ask for one answer to everything, word for word: "Answer only with the word PONG", "Reply with
// exactly: all is well". What depends on a condition, or leaves a choice, asks for no such thing.

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
