// The Vercel AI SDK against every upstream format.
import { play } from './play.ts'
import { AI_SDK_SPEAKERS } from './speakers/ai-sdk.ts'

play({ speakers: AI_SDK_SPEAKERS })
