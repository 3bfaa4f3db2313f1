// Pages, dialogs and tabs that are loaded when they are first opened. If one cannot be loaded, what is open stays, and a
// notice says why.
import { Button } from '@mantine/core'
import type { RouteComponent } from '@tanstack/react-router'
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { isPageServed, isReachable } from '../base/api.ts'
import { useTranslation } from '../i18n/i18n.ts'
import { Dialog } from './dialogs.tsx'
import { Loading, Notice } from './notices.tsx'

type Load<Props> = () => Promise<ComponentType<Props>>

/** Loaded ahead when somebody points at a link to it. Untyped: types of pages follow from the router's. */
export function pageOnDemand(load: () => Promise<unknown>): RouteComponent {
  const { Part, fetch } = onDemand(async () => (await load()) as ComponentType<object>, <Loading />)
  // A failure is shown together with the page.
  const preload = () => fetch().then(ignore, ignore)
  return Object.assign(Part, { preload })
}

export function tabOnDemand<Props extends object>(load: Load<Props>, waiting: ReactNode) {
  return onDemand(load, waiting).Part
}

export function dialogOnDemand<Props extends { readonly onClose: () => void }>(load: Load<Props>) {
  return onDemand(load, null, NoDialog).Part
}

/** Whether there is anything that a script which cannot be fetched would take away. */
let isAnythingShown = false

function onDemand<Props extends object>(
  load: Load<Props>,
  waiting: ReactNode,
  Failed: ComponentType<Failure & Props> = NoPart,
) {
  let known: ComponentType<Props> | undefined
  // Browsers remember a script that could not be fetched, and never fetch it again: first see whether it can be. The
  // first page does not wait for that: only a reload would help it anyway.
  const fetch = async (): Promise<ComponentType<Props>> => {
    if (known === undefined && isAnythingShown && !(await isReachable()))
      throw new Error('unreachable')
    return (known ??= await load())
  }
  function Part(props: Props) {
    const [Loaded, setLoaded] = useState(() => known)
    const [isAway, setAway] = useState<boolean>()
    const judge = async () => setAway(!(await isReachable()))
    const attempt = () => fetch().then((part) => setLoaded(() => part), judge)
    const reload = async () => {
      if (await isPageServed()) location.reload()
      else setAway(true)
    }
    useEffect(() => {
      if (Loaded === undefined) void attempt()
      // Only once: after a failure the reader decides.
    }, [])
    useEffect(() => {
      isAnythingShown ||= Loaded !== undefined
    }, [Loaded])
    if (Loaded !== undefined) return <Loaded {...props} />
    if (isAway === undefined) return waiting
    return (
      <Failed {...props} isAway={isAway} onRetry={() => void (isAway ? attempt() : reload())} />
    )
  }
  return { Part, fetch }
}

type Failure = { readonly isAway: boolean; readonly onRetry: () => void }

function NoPart(failure: Failure) {
  const { t } = useTranslation()
  return <Words {...failure} title={t('error.page')} />
}

function NoDialog({ onClose, ...failure }: Failure & { readonly onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Dialog title={t('error.dialog')} onClose={onClose}>
      <Words {...failure} />
    </Dialog>
  )
}

/** If the gateway answers, it has other files by now, or fell silent in between: then only a reload helps. */
function Words({ isAway, onRetry, title }: Failure & { readonly title?: string }) {
  const { t } = useTranslation()
  return (
    <Notice
      tone="bad"
      title={title}
      actions={
        <Button size="compact-sm" variant="default" onClick={onRetry}>
          {t(isAway ? 'error.retry' : 'error.reload')}
        </Button>
      }
      announce
    >
      {t(isAway ? 'error.unreachable' : 'error.notFetched')}
    </Notice>
  )
}

function ignore(): void {}
