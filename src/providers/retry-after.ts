// How long a provider's headers ask to be left alone, in seconds. Some send milliseconds in a header outside the
// standard, some send a date, which is compared with the date of the answer because clocks differ.
import type { AnswerHeaders } from './provider.ts'

export function retryAfterOf(headers: AnswerHeaders): number | undefined {
  const told = headers.get('retry-after') ?? ''
  const seconds =
    Number(headers.get('retry-after-ms')) / 1000 || Number(told) || secondsUntil(told, headers)
  return seconds > 0 ? seconds : undefined
}

function secondsUntil(date: string, headers: AnswerHeaders): number {
  return (Date.parse(date) - Date.parse(headers.get('date') ?? '')) / 1000
}
