// The official Anthropic library with its default Bearer header, where the operator allows it.
import Anthropic from '@anthropic-ai/sdk'

import { play } from './play.ts'
import { anthropicMessages } from './speakers/anthropic.ts'

play({
  config: 'auth: { messages_bearer: true }',
  speakers: [
    anthropicMessages('anthropic 1 bearer', {
      connect: ({ url, key, fetch }) =>
        new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0, fetch }),
      style: 'helpers',
    }),
  ],
})
