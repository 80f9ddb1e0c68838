{{- define "quern.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{/* By which the pods are found. */}}
{{- define "quern.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "quern.labels" -}}
{{ include "quern.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "quern.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* The claim of the models; empty without a volume. */}}
{{- define "quern.claim" -}}
{{- with .Values.models -}}
{{- if .existingClaim -}}{{ .existingClaim }}
{{- else if .size -}}{{ include "quern.name" $ }}-models
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Marks a volume that has all of the models; another list has another mark. Empty if a job fills none. */}}
{{- define "quern.mark" -}}
{{- if or .Values.models.pull .Values.models.create -}}
{{- $list := dict "pull" .Values.models.pull "create" .Values.models.create -}}
{{ toJson $list | sha256sum | trunc 10 }}
{{- end -}}
{{- end -}}

{{/* The secret of the keys; empty if none are asked for. */}}
{{- define "quern.secret" -}}
{{- with .Values.keys -}}
{{- if .existingSecret -}}{{ .existingSecret }}
{{- else if or .apiKey .file -}}{{ include "quern.name" $ }}-keys
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "quern.container.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "quern.pod.security" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}
