// The first script of every visit, and the only small one. What the page will wait for is asked for here, while the
// scripts that wait for it are still on their way: on a slow line a question that waits for an answer costs a round trip.
// vite.config.ts has the large scripts fetched at the same time as this one.
import { askAhead } from './base/ahead.ts'
import { languages, wantedLanguage } from './i18n/languages.ts'

/** The addresses below the admin API, from its contract, which is too large for here: vite.config.ts puts them in. */
declare const ASKED_FIRST: {
  readonly session: string
  /** What the overview shows when its address has no filters. */
  readonly keys: string
}

const overview = '/settings/api-access'

type Session = { readonly person: { readonly permissions: readonly string[] } | null }

// Whoever needs one of these asks for it again, and says so if it fails.
const ignore = (): void => {}

void languages[wantedLanguage()].load().catch(ignore)
void import('./main.tsx')
if (location.pathname === '/' || location.pathname.startsWith('/settings/'))
  void ask().catch(ignore)

async function ask(): Promise<void> {
  const answer = askAhead(ASKED_FIRST.session)
  if (location.pathname !== overview) return
  void import('./pages/keys/overview.tsx').catch(ignore)
  if (location.search !== '') return
  // Only once it is known that they may read it: a refusal would be recorded against them.
  const { person } = (await (await answer).clone().json()) as Session
  if (person?.permissions.includes('configuration:read')) await askAhead(ASKED_FIRST.keys)
}
