// What the web interface must know about this gateway first.
import { z } from 'zod'

import { AUTH_HEADERS } from '../../core/endpoints.ts'
import { route } from './route.ts'
import { moment } from './values.ts'

export const aboutRoutes = {
  readOpenApi: route('GET /openapi.json', 'public', {
    summary: 'This document',
    answer: z.record(z.string(), z.unknown()),
  }),
  about: route('GET /about', 'signed-in', {
    summary: 'The gateway behind this interface',
    answer: z.object({
      version: z.string(),
      /** Where programs reach the data plane, for snippets to copy. */
      base_url: z.string(),
      now: moment,
      /** The caller's address, as the gateway sees it. */
      address: z.string(),
      /** Whether a key must be in the header of the endpoint's family, or may be in either. */
      auth_headers: z.enum(AUTH_HEADERS),
      email_available: z.boolean(),
    }),
  }),
}
