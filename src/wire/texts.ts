// What a request's input is measured by, in words, for counting them with a tokenizer. The same walk over the body that
// measured it: what would be left out here would be counted as nothing.
import type { JsonObject } from '../core/json.ts'
import type { EdgeCodec } from './codec.ts'
import { Measure } from './measure.ts'

/** All that was measured in bytes, but for what is sealed (`InputMeasure.sealedBytes`). */
export function textsOf(readCall: EdgeCodec['readCall'], body: JsonObject): string[] {
  const texts: string[] = []
  readCall(body, new Measure(texts))
  return texts
}
