// The official OpenAI library, and the major version before it as a smoke test, against every upstream format.
import OpenAI from 'openai'

import { play } from './play.ts'
import { openaiChat } from './speakers/openai-chat.ts'
import { openaiResponses } from './speakers/openai-responses.ts'
import { PreviousOpenAI } from './speakers/previous.ts'

play({
  speakers: [
    openaiChat('openai 7 chat', OpenAI, 'by hand'),
    openaiChat('openai 7 chat helpers', OpenAI, 'helpers'),
    openaiResponses('openai 7 responses', OpenAI, 'by hand'),
    openaiResponses('openai 7 responses helpers', OpenAI, 'helpers'),
  ],
  smoke: [
    openaiChat('openai 6 chat', PreviousOpenAI, 'helpers'),
    openaiResponses('openai 6 responses', PreviousOpenAI, 'helpers'),
  ],
})
