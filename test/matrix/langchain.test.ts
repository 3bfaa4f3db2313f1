// LangChain.js against every upstream format.
import { play } from './play.ts'
import { LANGCHAIN_SPEAKERS } from './speakers/langchain.ts'

play({ speakers: LANGCHAIN_SPEAKERS })
