// Tested by src/dialects/flux/docs-page.test.ts.
/** All fields of Flux's HelmRelease, and how exactly they are supported. */
import { exact, near, refused, warned } from '../../field-table.ts'
import type { Fields } from '../../field-table.ts'
import { HEALTH_EXPRESSIONS, ignoreRules } from '../rule-fields.ts'

const reference: Fields = { name: exact('text', '') }

const objectReference: Fields = {
  apiVersion: exact('text', ''),
  kind: exact('text', ''),
  name: exact('text', ''),
  namespace: near('text', 'Another namespace is refused, as with `--no-cross-namespace-refs`.'),
}

const remediation: Fields = {
  retries: near('int', 'Agents try again with a growing delay. `-1` is 100 retries.'),
  ignoreTestFailures: warned('flag', 'ignoreTestFailures has no effect: use spec.test.ignoreFailures'),
  remediateLastFailure: exact('flag', ''),
}

const action: Fields = {
  timeout: warned('text', 'timeout of an action has no effect: use spec.timeout'),
  strategy: near(
    { name: exact('text', ''), retryInterval: near('text', 'Agents try again with a growing delay.') },
    '`RetryOnFailure` tries again without remediation.',
  ),
  crds: near('text', ''),
  disableHooks: near('flag', 'Counts if it is set for install and upgrade.'),
  disableWait: near('flag', 'Counts if it is set for install and upgrade: Ready does not wait for the objects.'),
  disableWaitForJobs: warned('flag', 'disableWaitForJobs has no effect: Jobs count as all objects do'),
  disableOpenAPIValidation: exact('flag', 'Objects are always checked by the API server of the cluster.'),
  disableSchemaValidation: near('flag', 'Counts if it is set for install and upgrade.'),
  disableTakeOwnership: near('flag', 'Counts if it is set for install and upgrade: `apply.takeover: IfNoDiff`.'),
  serverSideApply: warned('text', 'serverSideApply has no effect: objects are always applied by server-side apply'),
}

/** `spec` of a HelmRelease. */
export const HELM_RELEASE: Fields = {
  chart: exact(
    {
      metadata: exact({ labels: exact('textMap', ''), annotations: exact('textMap', '') }, ''),
      spec: exact(
        {
          chart: exact('text', ''),
          version: exact('text', ''),
          sourceRef: exact(objectReference, ''),
          interval: exact('text', ''),
          reconcileStrategy: exact('text', ''),
          valuesFiles: exact('texts', ''),
          valuesFile: refused(
            'text',
            'chart.spec.valuesFile is refused: it is a field of v2beta2; write it in chart.spec.valuesFiles',
          ),
          ignoreMissingValuesFiles: exact('flag', ''),
          verify: refused('map', 'chart.spec.verify is refused: signatures of cosign and notation are not checked'),
        },
        'As in a HelmChart.',
      ),
    },
    'The HelmChart `NAMESPACE-NAME` is made for it, as in Flux.',
  ),
  chartRef: near(objectReference, 'A HelmChart or OCIRepository of the same namespace.'),
  interval: near('text', 'Agents follow at once, so nothing happens at the interval.'),
  timeout: near('text', '`apply.timeout` of the Bundle, for each wave and hook. Defaults to 5m.'),
  releaseName: exact('text', ''),
  targetNamespace: exact('text', ''),
  storageNamespace: warned('text', 'storageNamespace has no effect: no Secrets of Helm are written'),
  dependsOn: near(
    { items: { name: exact('text', ''), namespace: exact('text', ''), readyExpr: exact('text', '') } },
    'Judged for each cluster. `readyExpr` is judged once, on the hub.',
  ),
  maxHistory: near('int', 'Entries of `status.history`. `0` is 100.'),
  serviceAccountName: near('text', '`executor` of the Bundle, in the namespace of this name in each cluster.'),
  kubeConfig: near(
    {
      secretRef: near({ name: exact('text', ''), key: near('text', 'Not looked at.') }, ''),
      configMapRef: refused(
        reference,
        'kubeConfig.configMapRef is refused: name the Secret of a registered cluster in kubeConfig.secretRef',
      ),
    },
    'Means the Cluster that is registered with this Secret. The hub does not read the Secret for it.',
  ),
  persistentClient: exact('flag', 'There is no client to keep.'),
  values: exact('map', ''),
  valuesFrom: near(
    {
      items: {
        kind: exact('text', ''),
        name: exact('text', ''),
        valuesKey: exact('text', ''),
        targetPath: exact('text', ''),
        literal: exact('flag', ''),
        optional: exact('flag', ''),
      },
    },
    'Read on the hub. A Secret needs the label `flotilla.dev/input: allowed`. Changes are seen within a minute.',
  ),
  commonMetadata: exact({ labels: exact('textMap', ''), annotations: exact('textMap', '') }, ''),
  postRenderers: exact(
    {
      items: {
        kustomize: exact(
          {
            patches: exact('maps', ''),
            images: exact('maps', ''),
            patchesStrategicMerge: exact('maps', 'Of v2beta1 and v2beta2.'),
            patchesJson6902: exact('maps', 'Of v2beta1 and v2beta2.'),
          },
          '',
        ),
      },
    },
    'Run in order, each on the result of the one before.',
  ),
  postRenderStrategy: near(
    'text',
    '`nohooks` (default) leaves hooks as they are; `combined` and `separate` render them, too.',
  ),
  waitStrategy: near('map', 'Agents always judge by the rules of kstatus.'),
  healthCheckExprs: HEALTH_EXPRESSIONS,
  driftDetection: near(
    {
      mode: exact(
        'text',
        '`drift.mode` of the Bundle: `enabled` corrects, `warn` reports, `disabled` (default) ignores.',
      ),
      ignore: ignoreRules('driftDetection.ignore'),
    },
    '',
  ),
  install: near(
    {
      ...action,
      crds: near('text', '`Create` (default) and `CreateReplace` create them once.'),
      remediation: near(remediation, '`remediation` of the Bundle.'),
      createNamespace: exact('flag', '`namespaces.create` of the Bundle.'),
      replace: exact('flag', 'There is no earlier release to replace.'),
      skipCRDs: near('flag', 'The same as `crds: Skip`.'),
      chartNameChangeStrategy: warned('text', 'chartNameChangeStrategy has no effect'),
    },
    '',
  ),
  upgrade: near(
    {
      ...action,
      crds: near('text', '`CreateReplace` updates them. `Skip` (default) and `Create` do what `install.crds` says.'),
      remediation: near(
        { ...remediation, strategy: exact('text', '`rollback` (default) or `uninstall`.') },
        '`remediation` of the Bundle. With retries for both, those of the upgrade count.',
      ),
      force: exact('flag', '`apply.immutable: Recreate`.'),
      preserveValues: warned('flag', 'preserveValues has no effect: values are those of the object'),
      cleanupOnFail: warned('flag', 'cleanupOnFail has no effect'),
      chartNameChangeStrategy: warned('text', 'chartNameChangeStrategy has no effect'),
    },
    '',
  ),
  test: near(
    {
      enable: exact('flag', ''),
      timeout: warned('text', 'test.timeout has no effect: use spec.timeout'),
      ignoreFailures: near('flag', 'Tests are not run.'),
      filters: exact({ items: { name: exact('text', ''), exclude: exact('flag', '') } }, ''),
    },
    'Tests of the chart run after each install and upgrade. A test that fails fails the operation.',
  ),
  rollback: near(
    {
      ...action,
      force: exact('flag', 'As `upgrade.force`.'),
      recreate: warned('flag', 'rollback.recreate has no effect'),
      cleanupOnFail: warned('flag', 'cleanupOnFail has no effect'),
    },
    'A rollback applies the objects of the release before.',
  ),
  uninstall: near(
    {
      timeout: warned('text', 'timeout of an action has no effect: use spec.timeout'),
      disableHooks: warned('flag', 'uninstall.disableHooks has no effect: set it for install and upgrade'),
      keepHistory: warned('flag', 'uninstall.keepHistory has no effect: no Secrets of Helm are written'),
      disableWait: warned('flag', 'uninstall.disableWait has no effect'),
      deletionPropagation: near('text', '`background` (default), `foreground`, or `orphan`, which keeps the objects.'),
    },
    'Objects are removed as described for Bundles.',
  ),
  suspend: near('flag', 'No new content is delivered. Agents go on as `driftDetection` says.'),
}
