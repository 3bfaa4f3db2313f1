// Which OpenAI models accept sampling settings: those that reason refuse a temperature other than 1, top_p and
// logprobs, from GPT-5.1 on only while they reason. In passthrough the provider judges.
import { toldEffort } from './effort.ts'
import type { Thinker } from './effort.ts'
import { openAiOf } from './openai.ts'

export function takesSampling(thinker: Thinker): boolean {
  const openAi = openAiOf(thinker)
  if (openAi === undefined || openAi.efforts.length === 0) return true
  const effort = toldEffort(thinker)
  return effort === undefined ? !openAi.reasonsUnasked : effort === 'none'
}
