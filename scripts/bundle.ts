// What a binary is made of: its main with everything it reaches, in one file (the CLI in several) that needs only Node
// 26.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import type { BuildOptions, Metafile, Plugin } from 'esbuild'
import { root } from './tiers.ts'

/** A bundled file and the files of the clone that went into it. */
export interface Bundled {
  readonly name: string
  readonly file: string
  readonly bytes: number
  readonly inputs: readonly string[]
}

/** The binaries of one file. The CLI runs hub and agent too; the agent alone is what a cluster gets. */
const MAINS: Readonly<Record<string, string>> = {
  hub: 'src/hub/main.ts',
  agent: 'src/agent/main.ts',
}

/** The CLI is cut where it imports on demand: a command loads its own part only. */
const IN_PARTS: Readonly<Record<string, string>> = {
  flotilla: 'src/cli/main.ts',
  'threads/template-thread': 'src/cli/template/template-thread.ts',
  'threads/agent-render-thread': 'src/agent/render/render-thread-main.ts',
}

/** Threads of the hub: files of their own beside the binary that starts them. */
const THREADS: Readonly<Record<string, string>> = {
  'threads/api-thread': 'src/hub/threads/api-thread.ts',
  'threads/gateway-thread': 'src/hub/threads/gateway-thread.ts',
  'threads/push-thread': 'src/hub/threads/push-thread.ts',
  'threads/render-thread': 'src/hub/threads/render-thread.ts',
  'threads/source-thread': 'src/hub/threads/source-thread.ts',
  'threads/view-thread': 'src/hub/threads/view-thread.ts',
}

/** Bundles every binary, with the hub's threads beside it, into a folder. */
export async function bundle(outDir: string): Promise<Bundled[]> {
  const into = resolve(root, outDir)
  const entries = Object.entries({ ...MAINS, ...THREADS })
  return await Promise.all([bundleParts(into), ...entries.map(([name, main]) => bundleOne(name, main, into))])
}

// CommonJS packages inside an ES module still call require for Node's own modules.
const REQUIRE = `import { createRequire as makeRequire } from 'node:module'\nconst require = makeRequire(import.meta.url)`
const SHEBANG = '#!/usr/bin/env node\n'

/**
 * Node's modules that the command line parser names and hardly uses. To import one makes Node load all that it can
 * give, 20 ms of each start together: in the bundle they are asked for when they are used.
 */
const ON_DEMAND: Readonly<Record<string, string>> = {
  'node:process': 'export default globalThis.process',
  'node:child_process': `export default { spawn: (...args) => process.getBuiltinModule('node:child_process').spawn(...args) }`,
  'node:util': `export const stripVTControlCharacters = (text) => process.getBuiltinModule('node:util').stripVTControlCharacters(text)`,
}

const onDemand: Plugin = {
  name: 'on-demand',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, importer }) =>
      Object.hasOwn(ON_DEMAND, path) && importer.includes('node_modules/commander/')
        ? { path, namespace: 'on-demand' }
        : undefined,
    )
    onLoad({ filter: /^node:/, namespace: 'on-demand' }, ({ path }) => ({ contents: ON_DEMAND[path]! }))
  },
}

const OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  metafile: true,
  platform: 'node',
  target: 'node26',
  format: 'esm',
  legalComments: 'linked',
  logLevel: 'warning',
  plugins: [onDemand],
} satisfies BuildOptions

/** Bundles one file of the clone. */
export async function bundleOne(name: string, main: string, into: string): Promise<Bundled> {
  const file = join(into, `${name}.mjs`)
  const isBinary = Object.hasOwn(MAINS, name)
  const banner = { js: `${isBinary ? SHEBANG : ''}${REQUIRE}` }
  const { metafile } = await build({ ...OPTIONS, entryPoints: [main], outfile: file, banner })
  if (isBinary) chmodSync(file, 0o755)
  return { name, file, ...sizeOf(metafile) }
}

async function bundleParts(into: string): Promise<Bundled> {
  const { metafile } = await build({
    ...OPTIONS,
    entryPoints: IN_PARTS,
    outdir: into,
    outExtension: { '.js': '.mjs' },
    // Beside the binary, because the code finds its threads and pages from where it stands.
    chunkNames: 'flotilla-[hash]',
    splitting: true,
    banner: { js: REQUIRE },
  })
  const file = join(into, 'flotilla.mjs')
  writeFileSync(file, `${SHEBANG}${readFileSync(file, 'utf8')}`)
  chmodSync(file, 0o755)
  return { name: 'flotilla', file, ...sizeOf(metafile) }
}

function sizeOf(metafile: Metafile): Pick<Bundled, 'bytes' | 'inputs'> {
  const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0)
  return { bytes, inputs: Object.keys(metafile.inputs) }
}
