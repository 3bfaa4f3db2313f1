// Trying a model with a key's limits: a real call through the gateway's own flow, which spends from that key.
import { z } from 'zod'

import { callResult } from './calls.ts'
import { route } from './route.ts'
import { keyId } from './values.ts'

const playgroundCall = z.strictObject({
  key: keyId,
  model: z.string(),
  messages: z
    .array(z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }))
    .min(1)
    .max(200),
  max_tokens: z.int().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
})

export const playgroundRoutes = {
  play: route({
    method: 'POST',
    path: '/playground',
    access: 'configuration:manage',
    summary: 'Call a chat model with the limits of a key, at its expense',
    body: playgroundCall,
    answer: callResult,
  }),
}
