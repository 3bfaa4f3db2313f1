// What the screens must know about this gateway before they know anything else.
import { z } from 'zod'

import { route } from './route.ts'
import { moment } from './values.ts'

export const aboutRoutes = {
  readOpenApi: route({
    method: 'GET',
    path: '/openapi.json',
    access: 'public',
    summary: 'This document',
    answer: z.record(z.string(), z.unknown()),
  }),
  about: route({
    method: 'GET',
    path: '/about',
    access: 'signed-in',
    summary: 'The gateway behind this interface',
    answer: z.object({
      version: z.string(),
      /** Where programs reach the data plane: what ready snippets begin with. */
      base_url: z.string(),
      now: moment,
      /** Where the caller seems to be. */
      address: z.string(),
      /** Whether messages-style endpoints also take a Bearer key. */
      messages_bearer: z.boolean(),
      email_available: z.boolean(),
    }),
  }),
}
