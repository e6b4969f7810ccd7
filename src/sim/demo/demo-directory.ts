/** Where a demo lives: a temporary directory that goes with it, or one that is kept for the next time. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject } from '../../core/json.ts'

/** Where the parts of a demo listen. */
export interface Addresses {
  readonly api: string
  readonly gateway: string
  readonly board: string
}

/** The directory of a demo. */
export interface DemoDirectory {
  readonly folder: string
  /**
   * Where the hub and the change board listened the last time; agents that joined and rollouts that began then look for
   * them there.
   */
  readonly listen: Addresses
  /** Remembers where they listen now, each `host:port`. */
  remember(addresses: Addresses): Promise<void>
  /** Removes what should not stay. */
  leave(): Promise<void>
}

const ANY = '127.0.0.1:0'

/** A place that is kept when a folder is given. */
export async function openDemoDirectory(kept: string | undefined): Promise<DemoDirectory> {
  if (kept === undefined) {
    const folder = await mkdtemp(join(tmpdir(), 'flotilla-demo-'))
    return {
      folder,
      listen: { api: ANY, gateway: ANY, board: ANY },
      remember: async () => {},
      leave: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
    }
  }
  await mkdir(kept, { recursive: true, mode: 0o700 })
  // A demo that was killed left its socket.
  await rm(join(kept, 'door'), { force: true })
  const file = join(kept, 'addresses.json')
  return {
    folder: kept,
    listen: await readAddresses(file),
    remember: (addresses) => writeFile(file, `${JSON.stringify(addresses)}\n`, { mode: 0o600 }),
    leave: async () => {},
  }
}

async function readAddresses(file: string): Promise<Addresses> {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  const known: unknown = JSON.parse(text)
  const of = (name: string): string => {
    const address = isObject(known) ? known[name] : undefined
    return typeof address === 'string' ? address : ANY
  }
  return { api: of('api'), gateway: of('gateway'), board: of('board') }
}
