// The CLI as one file that needs no Node: Node itself, a snapshot of `flotilla template` ready to go, and all that is
// built.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import type { Plugin } from 'esbuild'
import { INDEX_ASSET, PARTS_ASSET } from '../src/cli/executable/embedded-assets.ts'
import type { AssetIndex } from '../src/cli/executable/embedded-assets.ts'
import { root } from './tiers.ts'

/** Files that the snapshot leaves out: commands other than `template` run from the embedded assets. */
const OTHER_COMMANDS = [
  'src/cli/program/add-commands.ts',
  'src/cli/program/commands/object.ts',
  'src/cli/api/connect.ts',
  'src/cli/api/dry-run.ts',
].map((file) => {
  if (!existsSync(join(root, file))) throw new Error(`${file} of OTHER_COMMANDS does not exist`)
  return join(root, file)
})

/** Modules of Node that a usual render does not need, or that a snapshot cannot have: loaded when they are used. */
const ON_DEMAND = ['child_process', 'crypto', 'module', 'sea', 'tls', 'v8', 'vm', 'worker_threads', 'zlib']

/**
 * A render is over before compilers pay, so they wait ten times as long as V8 thinks right, while its interpreter
 * remembers from the first call on what it saw; it makes garbage, which costs less thrown away at the end than
 * collected on the way; and one thread beside its own is all that helps it. Hash seeds are not renewed: the author of a
 * chart can make its render slow in any case. Long-lived programs start with the usual flags
 * (src/cli/executable/run-executable.ts).
 */
const NODE_FLAGS = [
  '--no-rehash-snapshot',
  '--v8-pool-size=1',
  '--invocation-count-for-maglev=4000',
  '--invocation-count-for-turbofan=30000',
  '--baseline-batch-compilation-threshold=40000',
  '--no-lazy-feedback-allocation',
  '--regexp-tier-up-ticks=30',
  '--min-semi-space-size=16',
  '--initial-heap-size=128',
]

const WARM_UP_CHART = join(root, 'scripts/warm-up-chart')

/** Command lines that the snapshot has run before it is taken: a second run finds what the first one left. */
const WARM_UPS = [
  ['warm-up', WARM_UP_CHART],
  ['warm-up', WARM_UP_CHART, '--namespace', 'warm', '--set', 'a.b=c,d={1,2}', '-f', join(WARM_UP_CHART, 'values.yaml')],
]

const onDemand: Plugin = {
  name: 'on-demand',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) =>
      ON_DEMAND.includes(path.slice('node:'.length)) ? { path, namespace: 'on-demand' } : undefined,
    )
    onResolve({ filter: /\.ts$/ }, ({ path, kind, resolveDir }) =>
      kind === 'dynamic-import' && OTHER_COMMANDS.includes(resolve(resolveDir, path))
        ? { path, external: true }
        : undefined,
    )
    onLoad({ filter: /^node:/, namespace: 'on-demand' }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path)!)
      const getters = names.map((name) => `get ${name}() { return process.getBuiltinModule('${path}').${name} }`)
      return { contents: `module.exports = { ${getters.join(',\n')} }` }
    })
  },
}

/**
 * Makes the executable beside the built files, which become a part of it; says how large it is and what its snapshot is
 * made of.
 */
export async function makeExecutable(
  dist: string,
): Promise<{ readonly bytes: number; readonly inputs: readonly string[] }> {
  const scratch = mkdtempSync(join(tmpdir(), 'flotilla-executable-'))
  try {
    const main = join(scratch, 'main.cjs')
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: ['scripts/snapshot-main.ts'],
      outfile: main,
      bundle: true,
      // Names stay: errors and reports show them.
      minifyWhitespace: true,
      minifySyntax: true,
      metafile: true,
      platform: 'node',
      target: 'node26',
      format: 'cjs',
      logLevel: 'warning',
      external: ['internal/*'],
      plugins: [onDemand],
      // It is found in no file; what looks beside itself is told where (threadsFolder).
      define: Object.fromEntries(['url', 'filename', 'dirname'].map((name) => [`import.meta.${name}`, '"flotilla"'])),
    })
    writeFileSync(join(scratch, 'start.cjs'), "module.exports = () => import('./flotilla.mjs')\n")
    const executable = join(dist, 'flotilla')
    const assets = { [PARTS_ASSET]: join(scratch, 'parts'), [INDEX_ASSET]: join(scratch, 'index') }
    const { index, contents } = packed({ ...filesBelow(dist), 'start.cjs': join(scratch, 'start.cjs') })
    writeFileSync(assets[PARTS_ASSET], contents)
    writeFileSync(assets[INDEX_ASSET], JSON.stringify(index))
    const config = {
      main,
      output: executable,
      useSnapshot: true,
      disableExperimentalSEAWarning: true,
      execArgv: NODE_FLAGS,
      execArgvExtension: 'cli',
      assets,
    }
    writeFileSync(join(scratch, 'sea.json'), JSON.stringify(config))
    execFileSync(process.execPath, ['--no-warnings', '--expose-internals', '--build-sea', join(scratch, 'sea.json')], {
      env: { ...process.env, FLOTILLA_WARM_UPS: JSON.stringify(WARM_UPS) },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    return { bytes: statSync(executable).size, inputs: Object.keys(metafile.inputs) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The files of a folder by their path in it. */
function filesBelow(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
  const files = names.map((name) => [name, join(folder, name)] as const).filter(([, file]) => statSync(file).isFile())
  return Object.fromEntries(files)
}

/** Files one behind the other, and where each of them is. */
function packed(files: Readonly<Record<string, string>>): { readonly index: AssetIndex; readonly contents: Buffer } {
  const parts = Object.entries(files).map(([name, file]) => ({ name, content: readFileSync(file) }))
  const hash = createHash('sha256')
  for (const { name, content } of parts) hash.update(`${name}\0${content.length}\0`).update(content)
  const digest = hash.digest('hex').slice(0, 32)
  const index = { digest, files: parts.map(({ name, content }) => ({ name, bytes: content.length })) }
  return { index, contents: Buffer.concat(parts.map(({ content }) => content)) }
}
