// The texts by which a request's input is measured, to be counted with a tokenizer. They come from the same walk that
// measured the body: whatever they lacked would be counted as nothing.
import type { JsonObject } from '../core/json.ts'
import { Measure } from './measure.ts'

/** Everything that was measured in bytes, except what is sealed (`InputMeasure.sealedBytes`). */
export function textsOf(
  readCall: (body: JsonObject, measure: Measure) => unknown,
  body: JsonObject,
): string[] {
  const texts: string[] = []
  readCall(body, new Measure(texts))
  return texts
}
