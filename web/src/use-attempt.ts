// One Idempotency-Key for every try to send the same values: after a lost answer nothing is done twice. Different
// values get a new key.
import { useState } from 'react'
import { newIdempotencyKey } from './api.ts'

export function useAttempt(): { readonly keyFor: (body: unknown) => string } {
  const [last, setLast] = useState({ body: '', key: '' })
  return {
    keyFor(body) {
      const text = JSON.stringify(body)
      if (text === last.body) return last.key
      const next = { body: text, key: newIdempotencyKey() }
      setLast(next)
      return next.key
    },
  }
}
