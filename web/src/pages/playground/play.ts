// A conversation with a model, while its answers come. One that is stopped, or whose page is left, ends upstream as well.
import { useEffect, useRef, useState } from 'react'
import { playgroundRoutes } from '../../../../src/admin/contract/trial.ts'
import { ApiError, follow } from '../../base/api.ts'
import { useChange } from '../../parts/changes.tsx'
import { changedLast, heard, type PlayBody, stopped, type Turn } from './turns.ts'

export type Play = {
  readonly turns: readonly Turn[]
  readonly isAnswering: boolean
  readonly error: Error | null
  readonly say: (question: string, body: PlayBody) => void
  readonly stop: () => void
  readonly clear: () => void
}

/** `onLost`: the question was not delivered. */
export function usePlay(onLost: (question: string) => void): Play {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const [isAnswering, setAnswering] = useState(false)
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const change = (to: (answer: Turn) => Turn) => setTurns((old) => changedLast(old, to))
  const play = useChange([['keys'], ['frame'], ['usage'], ['requests']], {
    change: async (body: PlayBody) => {
      const { signal } = (running.current = new AbortController())
      try {
        for await (const event of follow(playgroundRoutes.play, { body, signal })) {
          change((answer) => heard(answer, event))
          if (event.type === 'result') return
        }
        throw new ApiError('unreachable', 0)
      } catch (error) {
        change(stopped)
        if (!signal.aborted) throw error
      } finally {
        setAnswering(false)
      }
    },
  })
  const say = (question: string, body: PlayBody) => {
    const asked: Turn = { role: 'user', content: question }
    setTurns([...turns, asked, { role: 'assistant', content: '', call: { key: body.key } }])
    setAnswering(true)
    const onError = () => {
      setTurns((old) => (old.at(-1)?.content === '' ? turns : old))
      onLost(question)
    }
    play.mutate(body, { onError })
  }
  return {
    ...{ turns, isAnswering, say },
    error: play.error,
    stop: () => running.current?.abort(),
    clear: () => {
      setTurns([])
      play.reset()
    },
  }
}
