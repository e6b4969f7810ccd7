// What a binary is made of: its main with everything it reaches, in one file that needs only Node 26.
import { chmodSync, cpSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { root } from './tiers.ts'

/** A bundled file and the files of the clone that went into it. */
export interface Bundled {
  readonly name: string
  readonly file: string
  readonly bytes: number
  readonly inputs: readonly string[]
}

/** The binaries. The CLI runs hub and agent too; the agent alone is what a cluster gets. */
const MAINS: Readonly<Record<string, string>> = {
  flotilla: 'src/cli/main.ts',
  hub: 'src/hub/main.ts',
  agent: 'src/agent/main.ts',
}

/** Threads of the hub: files of their own beside the binary that starts them. */
const THREADS: Readonly<Record<string, string>> = {
  'threads/api-thread': 'src/hub/threads/api-thread.ts',
  'threads/gateway-thread': 'src/hub/threads/gateway-thread.ts',
  'threads/render-thread': 'src/hub/threads/render-thread.ts',
}

const PAGE = 'src/hub/page'

/** Bundles every binary, with the hub's threads and page beside it, into a folder. */
export async function bundle(outDir: string): Promise<Bundled[]> {
  const into = resolve(root, outDir)
  const entries = Object.entries({ ...MAINS, ...THREADS })
  const bundled = await Promise.all(entries.map(([name, main]) => bundleOne(name, main, into)))
  await buildPage(join(into, 'page'))
  return bundled
}

async function bundleOne(name: string, main: string, into: string): Promise<Bundled> {
  const file = join(into, `${name}.mjs`)
  const isBinary = Object.hasOwn(MAINS, name)
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [main],
    outfile: file,
    bundle: true,
    metafile: true,
    platform: 'node',
    target: 'node26',
    format: 'esm',
    legalComments: 'linked',
    logLevel: 'warning',
    // CommonJS packages inside an ES module still call require for Node's own modules.
    banner: {
      js: `${isBinary ? '#!/usr/bin/env node\n' : ''}import { createRequire as makeRequire } from 'node:module'\nconst require = makeRequire(import.meta.url)`,
    },
  })
  if (isBinary) chmodSync(file, 0o755)
  const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0)
  return { name, file, bytes, inputs: Object.keys(metafile.inputs) }
}

/** The live page: its script without types, the rest as it is. */
async function buildPage(folder: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: [`${PAGE}/page.ts`],
    outfile: join(folder, 'page.js'),
    bundle: true,
    platform: 'browser',
    target: 'es2024',
    format: 'esm',
    logLevel: 'warning',
  })
  for (const file of ['index.html', 'page.css']) cpSync(join(root, PAGE, file), join(folder, file))
}
