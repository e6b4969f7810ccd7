/** Runs the helm binary with the same command line, instead of the native engine or to compare with it. */
import { execFile } from 'node:child_process'
import { CliError, EXIT } from '../errors/cli-error.ts'
import type { TemplateFlags } from './template-request.ts'

/** The output of a helm run. */
export interface HelmRun {
  readonly stdout: Buffer
  readonly stderr: string
  readonly failed: boolean
}

const MAX_OUTPUT = 1 << 28

/** The arguments for the helm binary. */
export function helmArguments(words: readonly string[], flags: TemplateFlags): string[] {
  const list = (flag: string, items: readonly string[] | undefined) => (items ?? []).map((item) => `${flag}=${item}`)
  const text = (flag: string, value: string | undefined) => (value === undefined ? [] : [`${flag}=${value}`])
  const on = (flag: string, value: boolean | undefined) => (value ? [flag] : [])
  return [
    'template',
    ...words,
    ...list('--values', flags.values?.map(quoted)),
    ...list('--set', flags.set),
    ...list('--set-string', flags.setString),
    ...list('--set-json', flags.setJson),
    ...list('--set-file', flags.setFile),
    ...list('--set-literal', flags.setLiteral),
    ...list('--show-only', flags.showOnly),
    ...list('--api-versions', flags.apiVersions?.map(quoted)),
    ...text('--namespace', flags.namespace),
    ...text('--kube-version', flags.kubeVersion),
    ...text('--output-dir', flags.outputDir),
    ...text('--name-template', flags.nameTemplate),
    ...text('--post-renderer', flags.postRenderer),
    ...list('--post-renderer-args', flags.postRendererArgs),
    ...text('--repo', flags.repo),
    ...text('--version', flags.chartVersion),
    ...text('--dry-run', flags.dryRun === 'unset' ? 'client' : flags.dryRun),
    ...on('--generate-name', flags.generateName),
    ...on('--include-crds', flags.includeCrds),
    ...on('--no-hooks', flags.hooks === false),
    ...on('--skip-tests', flags.skipTests),
    ...on('--is-upgrade', flags.isUpgrade),
    ...on('--skip-schema-validation', flags.skipSchemaValidation),
    ...on('--release-name', flags.releaseName),
    ...on('--dependency-update', flags.dependencyUpdate),
    ...on('--validate', flags.validate),
    ...on('--enable-dns', flags.enableDns),
    ...on('--verify', flags.verify),
    ...on('--debug', flags.debug),
  ]
}

/** Quotes an item for a comma-separated list. */
function quoted(item: string): string {
  return /[",]/.test(item) ? `"${item.replaceAll('"', '""')}"` : item
}

/** Runs a helm binary and returns its output unchanged. */
export async function runHelm(args: readonly string[], binary: string, stdin: Uint8Array): Promise<HelmRun> {
  return await new Promise((resolve, reject) => {
    const child = execFile(binary, args, { encoding: 'buffer', maxBuffer: MAX_OUTPUT }, (error, stdout, stderr) => {
      if ((error as NodeJS.ErrnoException | null)?.code === 'ENOENT') {
        reject(
          new CliError(EXIT.failed, {
            what: `cannot run ${JSON.stringify(binary)}: no such program`,
            todo: 'install helm, or give its path with --helm-binary FILE',
          }),
        )
      } else resolve({ stdout, stderr: stderr.toString('utf8'), failed: error !== null })
    })
    child.stdin?.on('error', () => {}) // a helm that does not read its input
    child.stdin?.end(stdin)
  })
}
