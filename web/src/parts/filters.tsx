// The toolbar above a list: its filters in one line, and the download at its end.
import { Autocomplete, Button, NativeSelect, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { FILTER_LENGTH_MAX } from '../../../src/admin/contract/values.ts'
import type { AddressProps, Days } from '../base/address.ts'
import { keyQuery, keysQuery } from '../base/queries.ts'
import { useSession } from '../base/session.ts'
import { useTranslation } from '../i18n/i18n.ts'
import styles from './filters.module.css'
import { DownloadIcon } from './icons.tsx'

type ToolbarProps = {
  readonly children: ReactNode
  readonly csv?: { readonly href: string; readonly name: string }
}

export function Toolbar({ children, csv }: ToolbarProps) {
  return (
    <div className={styles['bar']} role="search">
      {children}
      {csv && <CsvButton className={styles['end']} {...csv} />}
    </div>
  )
}

type ChoiceProps<Value extends string> = {
  readonly label: string
  readonly value: Value | undefined
  readonly values: readonly Value[]
  readonly wordOf: (value: Value) => string
  readonly onChoose: (value: Value | undefined) => void
  /** There is no "any": a value is always chosen. */
  readonly isRequired?: boolean
  /** What the list shows while none is chosen, if that is not everything. */
  readonly none?: string
}

export function Choice<Value extends string>(props: ChoiceProps<Value>) {
  const { label, value, values, wordOf, onChoose, isRequired = false } = props
  const { t } = useTranslation()
  const { none = t('filter.any') } = props
  const any = isRequired ? [] : [{ value: '', label: none }]
  return (
    <NativeSelect
      label={label}
      value={value ?? ''}
      onChange={({ currentTarget }) =>
        onChoose(values.find((each) => each === currentTarget.value))
      }
      data={[...any, ...values.map((each) => ({ value: each, label: wordOf(each) }))]}
    />
  )
}

type TypedFilterProps = {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
  readonly suggestions?: readonly string[]
  readonly placeholder?: string
  readonly icon?: ReactNode
}

const suggestedMax = 50

export function TypedFilter(props: TypedFilterProps) {
  const { label, value = '', onChange, suggestions = [], placeholder, icon } = props
  const { typed, type } = useTyped(value, onChange)
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      leftSection={icon}
      maxLength={FILTER_LENGTH_MAX}
      value={typed}
      data={[...suggestions]}
      limit={suggestedMax}
      onChange={type}
    />
  )
}

/** The first and the last day, in the browser's own date fields, which are accessible everywhere. */
export function DayFilters({ search, onChange }: AddressProps<Days>) {
  const { t } = useTranslation()
  return (['from', 'to'] as const).map((end) => (
    <TextInput
      key={end}
      type="date"
      label={t(`filter.${end}`)}
      value={search[end] ?? ''}
      onChange={({ currentTarget }) => onChange({ [end]: currentTarget.value || undefined })}
    />
  ))
}

type KeySelectProps = {
  readonly label: string
  /** The id of a key. */
  readonly value: string | undefined
  readonly onChange: (id: string | undefined) => void
  readonly required?: boolean
  readonly placeholder?: string
  readonly error?: string | undefined
}

const offered = 20
const typingMs = 250

/** Chooses a key. The gateway searches while the reader types, because there may be 100,000 keys. */
export function KeySelect(props: KeySelectProps) {
  const { label, value, onChange, required = false, error } = props
  const { t } = useTranslation()
  const { placeholder = required ? t('filter.chooseKey') : t('filter.any') } = props
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, typingMs)
  const chosen = useQuery({ ...keyQuery(value ?? ''), enabled: value !== undefined })
  const name = chosen.data?.name
  const keys = useQuery({
    ...keysQuery({
      // The field shows the chosen key's name, which is not a search.
      search: search === '' || search === name ? undefined : search,
      status: 'current',
      sort: 'last_used_at',
      order: 'desc',
      page: 1,
      per_page: offered,
    }),
    refetchInterval: false,
  })
  const found = (keys.data?.keys ?? []).map((key) => ({ value: key.id, label: key.name }))
  const isFound = found.some((each) => each.value === value)
  const own = value === undefined || isFound ? [] : [{ value, label: name ?? value }]
  const hasNone = search === '' && keys.data?.total === 0
  return (
    <Select
      label={label}
      required={required}
      searchable
      clearable={!required}
      clearButtonProps={{ 'aria-label': t('filter.clear', { filter: label }) }}
      description={hasNone && <NoKeys areRevoked={keys.data?.counts.all !== 0} />}
      error={keys.isError ? t('overview.failed') : error}
      onDropdownOpen={() => keys.isError && void keys.refetch()}
      placeholder={placeholder}
      value={value ?? null}
      searchValue={text}
      onSearchChange={setText}
      onChange={(id) => onChange(id ?? undefined)}
      // The gateway has already filtered.
      filter={({ options }) => options}
      nothingFoundMessage={keys.isFetching ? t('loading') : t('overview.noMatch')}
      data={[...own, ...found]}
    />
  )
}

function NoKeys({ areRevoked }: { readonly areRevoked: boolean }) {
  const { t } = useTranslation()
  const { may } = useSession()
  return (
    <>
      {t(areRevoked ? 'overview.allRevoked' : 'overview.none')}.{' '}
      {may('configuration:manage') && (
        <Link to="/settings/api-access/new">{t('overview.create')}</Link>
      )}
    </>
  )
}

type CsvButtonProps = {
  readonly href: string
  /** The file name. */
  readonly name: string
  readonly className?: string | undefined
}

export function CsvButton({ href, name, className }: CsvButtonProps) {
  const { t } = useTranslation()
  return (
    <Button
      className={className}
      component="a"
      href={href}
      download={name}
      variant="default"
      leftSection={<DownloadIcon />}
    >
      {t('overview.export')}
    </Button>
  )
}

/** Applied shortly after the last keystroke; follows the address, which may change without the field. */
export function useTyped(value: string, onChange: (value: string | undefined) => void) {
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  const send = useDebouncedCallback((text: string) => {
    sent.current = text
    onChange(text === '' ? undefined : text)
  }, typingMs)
  useEffect(() => {
    if (value !== sent.current) setTyped(value)
    sent.current = value
  }, [value])
  const type = (text: string) => {
    setTyped(text)
    send(text.trim())
  }
  return { typed, type }
}
