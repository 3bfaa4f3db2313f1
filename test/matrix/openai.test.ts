// The official OpenAI library, and the major version before it as a smoke test, against every upstream format.
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'

import { play } from './play.ts'
import { openaiChat } from './speakers/openai-chat.ts'
import { openaiResponses } from './speakers/openai-responses.ts'

const Previous = OpenAI6 as unknown as typeof OpenAI

play({
  speakers: [
    openaiChat('openai 7 chat', OpenAI, 'by hand'),
    openaiChat('openai 7 chat helpers', OpenAI, 'helpers'),
    openaiResponses('openai 7 responses', OpenAI, 'by hand'),
    openaiResponses('openai 7 responses helpers', OpenAI, 'helpers'),
  ],
  smoke: [
    openaiChat('openai 6 chat', Previous, 'helpers'),
    openaiResponses('openai 6 responses', Previous, 'helpers'),
  ],
})
