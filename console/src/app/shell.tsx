/** The frame of every page: navigation, search, the age of the data, and the user. */
import * as Menu from '@radix-ui/react-dropdown-menu'
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { humanAge } from '../../../src/core/time/time.ts'
import { useSession } from '../data/access.ts'
import { send } from '../data/api.ts'
import { silenceMs } from '../data/live-state.ts'
import { useLive, useNow } from '../data/use-live.ts'
import { useInbox } from '../inbox/use-inbox.ts'
import { currentNotices, dismiss, subscribeNotices } from '../ui/notices.ts'
import { useKeys } from './keys.ts'
import { PAGES } from './pages.ts'
import { Palette } from './palette.tsx'
import { setTheme, useTheme } from './theme.ts'
import type { Theme } from './theme.ts'

export function Shell({ children }: { readonly children: ReactNode }) {
  const [path, go] = useLocation()
  const [isSearching, setSearching] = useState(false)
  useKeys({ go, search: () => setSearching(true) })
  useEffect(() => {
    const page = PAGES.find(({ to }) => path.startsWith(to))
    document.title = `${page?.title ?? 'Flotilla'} · Flotilla`
  }, [path])
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <Link href="/fleet" className="brand">
          <img src="/favicon.svg" alt="" width="24" height="24" />
          <span>Flotilla</span>
        </Link>
        <nav aria-label="Pages">
          {PAGES.map(({ to, title }) => (
            <Link key={to} href={to} aria-current={path.startsWith(to) ? 'page' : undefined}>
              {title}
              {to === '/inbox' && <InboxCount />}
            </Link>
          ))}
        </nav>
        <div className="top-side">
          <button type="button" className="search-button" onClick={() => setSearching(true)}>
            Search <kbd>⌘K</kbd>
          </button>
          <LinkState />
          <UserMenu />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Notices />
      <Palette isOpen={isSearching} onOpenChange={setSearching} />
    </div>
  )
}

/** What was done, with the audit ID if the API gave one. */
function Notices() {
  const notices = useSyncExternalStore(subscribeNotices, currentNotices)
  return (
    <div className="notices" role="status">
      {notices.map(({ id, text, auditId }) => (
        <p className="notice" key={id}>
          ✔ {text}
          {auditId !== undefined && (
            <span className="quiet">
              {' '}
              <Link href={`/audit-log?q=${encodeURIComponent(auditId)}`}>
                Audit ID <code>{auditId}</code>
              </Link>
            </span>
          )}
          <button type="button" className="copy" onClick={() => dismiss(id)}>
            Dismiss
          </button>
        </p>
      ))}
    </div>
  )
}

/** How many items wait; nothing for an empty Inbox. */
function InboxCount() {
  const { count } = useInbox()
  if (count === 0) return null
  return (
    <span className="nav-count">
      {' '}
      {count}
      <span className="hidden"> items</span>
    </span>
  )
}

/** Whether the page is live, and how old its data is. */
function LinkState() {
  const { link } = useLive()
  useNow()
  const age = humanAge(silenceMs())
  const text = { loading: 'connecting', refused: 'live', live: 'live', lost: `connection lost, data is ${age} old` }[
    link
  ]
  return (
    <span className="link-state" data-link={link} role="status">
      <span aria-hidden="true">{link === 'lost' ? '○' : '●'}</span> {text}
    </span>
  )
}

const THEMES: readonly (readonly [Theme, string])[] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

function UserMenu() {
  const session = useSession()
  const theme = useTheme()
  const [, go] = useLocation()
  const signOut = async (): Promise<void> => {
    await send('/console/sign-out', { method: 'POST' })
    location.assign('/')
  }
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="user-button" aria-label={`Menu of user ${session?.username ?? ''}`}>
        <span>{session?.username ?? '…'}</span> <span aria-hidden="true">▾</span>
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="end" sideOffset={6} collisionPadding={8}>
          <Menu.Label className="menu-label">
            {session?.username}
            {session && session.groups.length > 0 && <span className="quiet">{session.groups.join(', ')}</span>}
          </Menu.Label>
          <Menu.Separator className="menu-line" />
          <Menu.RadioGroup value={theme} onValueChange={(value) => setTheme(value as Theme)}>
            {THEMES.map(([value, title]) => (
              <Menu.RadioItem key={value} value={value} className="menu-item">
                <Menu.ItemIndicator>✔</Menu.ItemIndicator>
                {title}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          <Menu.Separator className="menu-line" />
          <Menu.Item className="menu-item" onSelect={() => go('/sessions')}>
            Sessions
          </Menu.Item>
          <Menu.Item className="menu-item" onSelect={() => void signOut()}>
            Sign out
          </Menu.Item>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  )
}
