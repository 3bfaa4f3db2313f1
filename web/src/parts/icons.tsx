// The icons: 16 units square, one stroke, the colour of the surrounding text. All are decoration; the word beside an
// icon, or the label of its button, carries the meaning.
import type { ReactNode } from 'react'

type IconProps = { readonly size?: number }

const icon = (name: string, drawing: ReactNode) => {
  const Icon = ({ size = 16 }: IconProps) => (
    <svg
      aria-hidden="true"
      focusable="false"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {drawing}
    </svg>
  )
  Icon.displayName = name
  return Icon
}

export const KeyIcon = icon(
  'KeyIcon',
  <>
    <circle cx="5" cy="11" r="2.75" />
    <path d="m7 9 6.5-6.5M11 5l2 2M9 7l1.5 1.5" />
  </>,
)
export const GaugeIcon = icon(
  'GaugeIcon',
  <path d="M2.2 12.5a6.5 6.5 0 1 1 11.6 0M8 9.5l2.8-3.3" />,
)
export const ChartIcon = icon('ChartIcon', <path d="M2.5 13.5h11M4.5 11V8M8 11V4M11.5 11V6.5" />)
export const ListIcon = icon(
  'ListIcon',
  <path d="M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01" />,
)
export const CubeIcon = icon(
  'CubeIcon',
  <path d="M8 1.8 13.5 5v6L8 14.2 2.5 11V5zM2.5 5 8 8.2 13.5 5M8 8.2v6" />,
)
export const BellIcon = icon(
  'BellIcon',
  <path d="M4 7a4 4 0 0 1 8 0c0 3.5 1.5 4.5 1.5 4.5h-11S4 10.5 4 7M6.7 13.8a1.5 1.5 0 0 0 2.6 0" />,
)
export const PeopleIcon = icon(
  'PeopleIcon',
  <>
    <circle cx="6" cy="5.5" r="2.5" />
    <path d="M1.5 13.5a4.5 4.5 0 0 1 9 0M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.5a4.5 4.5 0 0 1 2.5 4" />
  </>,
)
export const ShieldIcon = icon(
  'ShieldIcon',
  <path d="M8 1.8 13 3.5v4c0 3.5-2.5 5.7-5 6.7-2.5-1-5-3.2-5-6.7v-4zM5.8 7.8l1.6 1.6 2.9-3" />,
)
export const HistoryIcon = icon(
  'HistoryIcon',
  <path d="M2.5 8a5.5 5.5 0 1 0 1.8-4.1L2.5 5.5M2.5 2.5v3h3M8 5v3.2l2 1.3" />,
)
export const PlayIcon = icon('PlayIcon', <path d="M5 3v10l8-5z" />)
export const BookIcon = icon(
  'BookIcon',
  <path d="M8 3.8C6.5 2.8 4.5 2.5 2.5 2.5v10c2 0 4 .300 5.5 1.3 1.5-1 3.5-1.3 5.5-1.3v-10c-2 0-4 .300-5.5 1.3zm0 0v10" />,
)
export const CheckIcon = icon('CheckIcon', <path d="m3 8.5 3.3 3.3L13 5" />)
export const CrossIcon = icon('CrossIcon', <path d="m4 4 8 8m0-8-8 8" />)
export const PauseIcon = icon('PauseIcon', <path d="M5.5 3.5v9M10.5 3.5v9" />)
export const BanIcon = icon(
  'BanIcon',
  <>
    <circle cx="8" cy="8" r="5.7" />
    <path d="m4 4 8 8" />
  </>,
)
export const ClockIcon = icon(
  'ClockIcon',
  <>
    <circle cx="8" cy="8" r="5.7" />
    <path d="M8 5v3.2l2 1.3" />
  </>,
)
export const WarningIcon = icon(
  'WarningIcon',
  <path d="M8 2.2 14.5 13.5h-13zM8 6.5v3M8 11.5h.01" />,
)
export const InfoIcon = icon(
  'InfoIcon',
  <>
    <circle cx="8" cy="8" r="5.7" />
    <path d="M8 7.5v3.3M8 5.2h.01" />
  </>,
)
export const RotateIcon = icon(
  'RotateIcon',
  <path d="M13.5 8a5.5 5.5 0 0 1-9.7 3.6M2.5 8a5.5 5.5 0 0 1 9.7-3.6M12.5 1.8v2.8H9.7M3.5 14.2v-2.8h2.8" />,
)
export const PlusIcon = icon('PlusIcon', <path d="M8 3v10M3 8h10" />)
export const SearchIcon = icon(
  'SearchIcon',
  <>
    <circle cx="7" cy="7" r="4.5" />
    <path d="m10.5 10.5 3 3" />
  </>,
)
export const CopyIcon = icon(
  'CopyIcon',
  <>
    <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
    <path d="M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.5h1.5" />
  </>,
)
export const DownloadIcon = icon(
  'DownloadIcon',
  <path d="M8 2.5v7.5M4.8 7 8 10.2 11.2 7M2.5 13.5h11" />,
)
export const MoreIcon = icon('MoreIcon', <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" />)
export const MenuIcon = icon('MenuIcon', <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />)
export const SunIcon = icon(
  'SunIcon',
  <>
    <circle cx="8" cy="8" r="2.8" />
    <path d="M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9" />
  </>,
)
export const MoonIcon = icon(
  'MoonIcon',
  <path d="M13.5 9.5A5.7 5.7 0 0 1 6.5 2.5a5.7 5.7 0 1 0 7 7" />,
)
export const GlobeIcon = icon(
  'GlobeIcon',
  <>
    <circle cx="8" cy="8" r="5.7" />
    <path d="M2.3 8h11.4M8 2.3c2 1.7 2.5 3.7 2.5 5.7S10 12 8 13.7C6 12 5.5 10 5.5 8S6 4 8 2.3" />
  </>,
)
export const PersonIcon = icon(
  'PersonIcon',
  <>
    <circle cx="8" cy="5.5" r="2.7" />
    <path d="M2.8 13.8a5.2 5.2 0 0 1 10.4 0" />
  </>,
)
export const ChevronRightIcon = icon('ChevronRightIcon', <path d="m6 3.5 4.5 4.5L6 12.5" />)
export const SortIcon = icon('SortIcon', <path d="m5 6 3-3 3 3M5 10l3 3 3-3" />)
export const SortUpIcon = icon('SortUpIcon', <path d="m4.5 9.5 3.5-3.5 3.5 3.5" />)
export const SortDownIcon = icon('SortDownIcon', <path d="m4.5 6.5 3.5 3.5 3.5-3.5" />)
export const EyeIcon = icon(
  'EyeIcon',
  <>
    <path d="M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8" />
    <circle cx="8" cy="8" r="2" />
  </>,
)
