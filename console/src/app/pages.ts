/** The pages of the navigation. */
export interface PageEntry {
  readonly to: string
  readonly title: string
  /** The key after `g` that opens the page. */
  readonly key: string
}

export const PAGES: readonly PageEntry[] = [
  { to: '/fleet', title: 'Fleet', key: 'f' },
  { to: '/inbox', title: 'Inbox', key: 'i' },
  { to: '/rollouts', title: 'Rollouts', key: 'r' },
  { to: '/bundles', title: 'Bundles', key: 'b' },
  { to: '/placements', title: 'Placements', key: 'p' },
  { to: '/drift', title: 'Drift', key: 'd' },
  { to: '/guardrails', title: 'Guardrails', key: 'w' },
  { to: '/compliance', title: 'Compliance', key: 'c' },
  { to: '/audit-log', title: 'Audit', key: 'a' },
  { to: '/hub', title: 'Hub', key: 'h' },
]
