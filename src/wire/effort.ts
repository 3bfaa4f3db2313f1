// A thinking budget in tokens as the nearest reasoning effort, for formats that know only the latter.
import type { Effort, Reasoning } from '../core/request.ts'

export function effortOf(reasoning: Reasoning | undefined): Effort | undefined {
  if (reasoning?.effort !== undefined || reasoning?.tokensMax === undefined) {
    return reasoning?.effort
  }
  if (reasoning.tokensMax >= 4096) return 'high'
  if (reasoning.tokensMax >= 2048) return 'medium'
  return reasoning.tokensMax >= 1024 ? 'low' : 'minimal'
}
