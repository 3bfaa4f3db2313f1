// The official Anthropic library against every upstream format: version 1 with the key in the header that this family
// reads, and version 0, which uses that header by default.
import Anthropic from '@anthropic-ai/sdk'

import { play } from './play.ts'
import type { Line } from './speaker.ts'
import { anthropicMessages } from './speakers/anthropic.ts'
import { previousAnthropic } from './speakers/previous.ts'

const withHeader = ({ url, key, fetch }: Line): Anthropic =>
  new Anthropic({
    baseURL: url,
    apiKey: key,
    defaultHeaders: { 'x-api-key': key },
    maxRetries: 0,
    fetch,
  })

play({
  speakers: [
    anthropicMessages('anthropic 1', { connect: withHeader, style: 'by hand' }),
    anthropicMessages('anthropic 1 helpers', { connect: withHeader, style: 'helpers' }),
    anthropicMessages('anthropic 0', { connect: previousAnthropic, style: 'helpers' }),
  ],
})
