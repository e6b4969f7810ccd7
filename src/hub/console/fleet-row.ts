/**
 * A cluster in the console's list, and the compact form in which the hub sends all of them at once. Pure, because the
 * page in the browser reads it with the same code.
 */

/** A cluster of the list. */
export interface FleetRow {
  readonly name: string
  /** State of the cluster; the badge of a cluster that left or was turned away. */
  readonly state: string
  /** The cluster left or was turned away: it has no state and is counted separately. */
  readonly isApart: boolean
  /** Time of the last change of the state, in seconds since 1970; 0 if unknown. */
  readonly since: number
  /** Time of the last contact, in seconds since 1970; 0 while the agent is in contact or has never been. */
  readonly seen: number
  /** The agent is in contact now. */
  readonly isHeard: boolean
  /** Expiry of the agent's certificate, in seconds since 1970; 0 without a certificate. */
  readonly certificate: number
  /** Bundles that are Ready. */
  readonly ready: number
  /** Bundles assigned to the cluster. */
  readonly bundles: number
  /** Kubernetes version. */
  readonly version: string
  readonly agent: string
  readonly waitsFor: string
  /** Separated by commas. */
  readonly badges: string
  readonly message: string
  readonly labels: Readonly<Record<string, string>>
}

/** A list of rows by column; texts that repeat are in a list of their own. */
export interface FleetSnapshot {
  /** Identifies the process that counts the revisions. */
  readonly epoch: string
  /** Changes up to this one are included. */
  readonly revision: number
  readonly names: readonly string[]
  readonly numbers: Readonly<Record<NumberColumn, readonly number[]>>
  readonly texts: Readonly<Record<TextColumn, Repeated>>
  readonly labels: Repeated<readonly (readonly [string, string])[]>
}

/** Distinct values, and for each row the index of its value. */
export interface Repeated<T = string> {
  readonly values: readonly T[]
  readonly rows: readonly number[]
}

/** Rows that changed, and clusters that are gone. */
export interface FleetDelta {
  readonly revision: number
  readonly rows: readonly FleetRow[]
  readonly removed: readonly string[]
}

const NUMBERS = ['since', 'seen', 'certificate', 'ready', 'bundles'] as const
const TEXTS = ['state', 'version', 'agent', 'waitsFor', 'badges', 'message'] as const
type NumberColumn = (typeof NUMBERS)[number] | 'flags'
type TextColumn = (typeof TEXTS)[number]

const APART = 1
const HEARD = 2

/** Writes rows as columns. */
export function encodeFleet(rows: readonly FleetRow[], at: Pick<FleetSnapshot, 'epoch' | 'revision'>): FleetSnapshot {
  const column = (name: (typeof NUMBERS)[number]): number[] => rows.map((row) => row[name])
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, column(name)])) as Record<NumberColumn, number[]>
  const texts = Object.fromEntries(TEXTS.map((name) => [name, repeated(rows.map((row) => row[name]))]))
  const flags = rows.map(({ isApart, isHeard }) => (isApart ? APART : 0) + (isHeard ? HEARD : 0))
  const labels = repeated(rows.map((row) => JSON.stringify(Object.entries(row.labels))))
  return {
    ...at,
    names: rows.map(({ name }) => name),
    numbers: { ...numbers, flags },
    texts: texts as FleetSnapshot['texts'],
    labels: { ...labels, values: labels.values.map((text) => JSON.parse(text) as [string, string][]) },
  }
}

/** Reads columns as rows. */
export function decodeFleet({ names, numbers, texts, labels }: FleetSnapshot): FleetRow[] {
  const maps = labels.values.map((entries) => Object.fromEntries(entries))
  return names.map((name, at) => {
    const flags = numbers.flags[at]!
    const text = (column: TextColumn): string => texts[column].values[texts[column].rows[at]!]!
    return {
      name,
      state: text('state'),
      isApart: (flags & APART) > 0,
      isHeard: (flags & HEARD) > 0,
      since: numbers.since[at]!,
      seen: numbers.seen[at]!,
      certificate: numbers.certificate[at]!,
      ready: numbers.ready[at]!,
      bundles: numbers.bundles[at]!,
      version: text('version'),
      agent: text('agent'),
      waitsFor: text('waitsFor'),
      badges: text('badges'),
      message: text('message'),
      labels: maps[labels.rows[at]!]!,
    }
  })
}

function repeated(texts: readonly string[]): Repeated {
  const places = new Map<string, number>()
  const rows = texts.map((text) => {
    const known = places.get(text)
    if (known !== undefined) return known
    places.set(text, places.size)
    return places.size - 1
  })
  return { values: [...places.keys()], rows }
}
