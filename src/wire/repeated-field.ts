// Finds the field that an object in a JSON text has twice, to name it in a refusal. A parser keeps one of the two and
// does not say that there was another.
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../core/json-characters.ts'
import { endOfString } from '../core/json-limits.ts'

type Step = string | number

/** An object or list that is being read, and how far. */
type Open = {
  /** Undefined: a list. */
  readonly names: Set<string> | undefined
  step: Step
  isNameNext: boolean
}

/** Where it is, as in `messages[1].content`; undefined if no object has a field twice. The text must be valid JSON. */
export function repeatedField(text: string): string | undefined {
  const open: Open[] = []
  let inner: Open | undefined
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case QUOTE: {
        const end = endOfString(text, index)
        if (inner?.names !== undefined && inner.isNameNext) {
          inner.step = JSON.parse(text.slice(index, end)) as string
          if (inner.names.has(inner.step)) return placeOf(open.map(({ step }) => step))
          inner.names.add(inner.step)
          inner.isNameNext = false
        }
        index = end - 1
        break
      }
      case OPEN_OBJECT:
        inner = { names: new Set(), step: '', isNameNext: true }
        open.push(inner)
        break
      case OPEN_ARRAY:
        inner = { names: undefined, step: 0, isNameNext: false }
        open.push(inner)
        break
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        open.pop()
        inner = open.at(-1)
        break
      case COMMA:
        if (typeof inner?.step === 'number') inner.step += 1
        else if (inner !== undefined) inner.isNameNext = true
        break
      default:
    }
  }
  return undefined
}

const PLACE_CHARACTERS_MAX = 200
const NAME_CHARACTERS_MAX = 50

/** Its last steps, if there are too many. */
function placeOf(steps: readonly Step[]): string {
  let place = ''
  for (const step of steps.toReversed()) {
    if (place.length > PLACE_CHARACTERS_MAX) return `…${place}`
    place = spelled(step) + place
  }
  return place.replace(/^\./, '')
}

/** A client may have chosen any name: an odd one is quoted, a long one cut. */
function spelled(step: Step): string {
  if (typeof step === 'number') return `[${step}]`
  const cut = step.length > NAME_CHARACTERS_MAX ? `${step.slice(0, NAME_CHARACTERS_MAX)}…` : step
  return /^[\w-]+$/.test(cut) ? `.${cut}` : `.${JSON.stringify(cut)}`
}
