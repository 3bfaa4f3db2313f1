// The official libraries one major version before. The speakers use only what both versions have in common.
import type Anthropic from '@anthropic-ai/sdk'
import Anthropic0 from 'anthropic-sdk-0'
import type OpenAI from 'openai'
import OpenAI6 from 'openai-6'

import type { Line } from '../speaker.ts'

export const PreviousOpenAI = OpenAI6 as unknown as typeof OpenAI

export function previousAnthropic({ url, key, fetch }: Line): Anthropic {
  const options = { baseURL: url, apiKey: key, maxRetries: 0, fetch }
  return new Anthropic0(options) as unknown as Anthropic
}
