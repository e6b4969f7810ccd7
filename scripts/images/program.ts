// The built files that go into images, made from the sources as they are.
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../bundle.ts'
import { buildConsole, CONSOLE_DIST } from '../console-workspace.ts'
import type { Program } from './recipes.ts'
import { pagePackages } from './sbom.ts'

/** Bundles the binaries and the page into a folder of their own. */
export async function makeProgram(): Promise<Program & { remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-program-'))
  const bundled = await bundle(folder)
  await buildConsole()
  cpSync(CONSOLE_DIST, join(folder, 'console'), { recursive: true })
  return {
    folder,
    bundled,
    console: pagePackages(),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
