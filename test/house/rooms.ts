/** The import table of ARCHITECTURE.md as data: which room may import which. */
import { readFileSync } from 'node:fs'

const PURE = ['core', 'yaml', 'cel', 'kinds']
const ALL = [
  'core',
  'cel',
  'lua',
  'yaml',
  'kinds',
  'plan',
  'render',
  'wire',
  'store',
  'blobs',
  'apiserver',
  'client',
  'engine',
  'source',
  'journal',
  'controllers',
  'dialects',
  'gateway',
  'agent',
  'hub',
  'cli',
  'sim',
  'testing',
] as const

/** A folder below src/. */
export type Room = (typeof ALL)[number]

/** Every room, in the order a newcomer reads them. */
export const ROOMS: readonly Room[] = ALL

/** Rooms without clock, randomness, process, network or files. */
export const PURE_ROOMS: readonly Room[] = ['core', 'cel', 'lua', 'yaml', 'kinds', 'plan', 'render', 'wire']

/** What a room may import with a static import; its own files always. */
export const STATIC_IMPORTS: Readonly<Record<Room, readonly string[]>> = {
  core: [],
  cel: ['core'],
  lua: ['core'],
  yaml: ['core'],
  kinds: ['core', 'yaml', 'cel'],
  plan: PURE,
  render: PURE,
  wire: PURE,
  store: ['core', 'kinds'],
  blobs: ['core', 'kinds'],
  client: ['core', 'yaml', 'kinds'],
  source: ['core', 'yaml', 'kinds', 'blobs'],
  apiserver: ['core', 'yaml', 'cel', 'kinds', 'plan', 'store', 'blobs'],
  engine: ['core', 'kinds', 'client'],
  journal: ['core', 'kinds', 'client', 'blobs'],
  gateway: ['core', 'kinds', 'wire', 'client', 'blobs', 'journal'],
  controllers: ['core', 'yaml', 'cel', 'lua', 'kinds', 'plan', 'render', 'wire', 'engine', 'client', 'source', 'blobs'],
  dialects: ['core', 'yaml', 'cel', 'lua', 'kinds', 'plan', 'render', 'wire', 'engine', 'client', 'source', 'blobs'],
  agent: ['core', 'yaml', 'cel', 'lua', 'kinds', 'plan', 'render', 'wire', 'client', 'blobs'],
  hub: ALL.filter((room) => !['cli', 'sim', 'testing', 'agent'].includes(room)),
  cli: ['core', 'yaml', 'cel', 'kinds', 'plan', 'render', 'client', 'source'],
  sim: ALL.filter((room) => !['cli', 'testing'].includes(room)),
  testing: ALL,
}

/** What a room may import with a dynamic import besides. */
export const DYNAMIC_IMPORTS: Readonly<Partial<Record<Room, readonly string[]>>> = {
  hub: ['agent'],
  cli: ['hub', 'agent', 'sim', 'dialects'],
}

/**
 * The public files of each sub-room: files outside the sub-room import these alone. A sub-room should need one to four;
 * the table has what is imported today, and a file leaves it when its last importer from outside goes.
 */
export const SUB_ROOMS: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL('./sub-rooms.json', import.meta.url), 'utf8'),
) as Record<string, string[]>

const DEEPEST_FIRST = Object.keys(SUB_ROOMS).toSorted((a, b) => b.length - a.length)

/** The innermost sub-room of a path such as `src/plan/rollout/gates/metric.ts`. */
export function subRoomOf(path: string): string | undefined {
  return DEEPEST_FIRST.find((room) => path.startsWith(`src/${room}/`))
}
