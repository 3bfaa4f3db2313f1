// Covers the page when its session has ended, until the reader has signed in again. The page stays mounted beneath, so
// nothing typed is lost, and nothing of it is stored anywhere.
import { Button, Modal, Stack } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { sessionQuery } from '../base/session.ts'
import { useTranslation } from '../i18n/i18n.ts'
import styles from '../pages/sign-in/entrance.module.css'
import { EntranceCard } from '../pages/sign-in/entrance.tsx'
import { useSignInSteps } from '../pages/sign-in/steps.tsx'

/** Above the page's own dialogs, drawers and menus. */
const aboveAll = 400

export function SignInAgain() {
  const { t } = useTranslation()
  const { data } = useQuery(sessionQuery)
  const [owner] = useState(data?.person?.id)
  const present = data?.person?.id
  const isOver = present !== owner
  useIgnoredEscape(isOver)
  useEffect(() => {
    // Nothing on the page is for somebody else to see, least of all what its owner typed.
    if (isOver && present !== undefined) location.reload()
  }, [isOver, present])
  return (
    <Modal.Root opened={isOver} fullScreen zIndex={aboveAll} onClose={stayOpen}>
      <Modal.Content aria-label={t('signIn.title')}>
        <Modal.Body className={styles['entrance']}>
          <div className={styles['middle']}>
            <EntranceCard title={t('signIn.title')} about={t('signIn.again')}>
              <Steps />
            </EntranceCard>
          </div>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

function Steps() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { step, form } = useSignInSteps(() => void client.invalidateQueries())
  // Always stale, because the reader may come back from a sign-in in another tab.
  const session = useQuery({ ...sessionQuery, staleTime: 0 })
  const singleSignOn = session.data?.single_sign_on
  return (
    <Stack>
      {form}
      {step === 'password' && singleSignOn && (
        <Button component="a" href="/sign-in" target="_blank" variant="default">
          {t('signIn.inNewTab', { name: singleSignOn.name })}
        </Button>
      )}
    </Stack>
  )
}

/** Escape would close a dialog beneath. The shell is there before any dialog, so this listener comes before theirs. */
function useIgnoredEscape(isOver: boolean): void {
  const isIgnored = useRef(isOver)
  useEffect(() => {
    isIgnored.current = isOver
  }, [isOver])
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (isIgnored.current && event.key === 'Escape') event.stopImmediatePropagation()
    }
    addEventListener('keydown', listen, { capture: true })
    return () => removeEventListener('keydown', listen, { capture: true })
  }, [])
}

function stayOpen(): void {}
