{{- define "callbook.selector" -}}
app.kubernetes.io/name: callbook
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "callbook.labels" -}}
{{ include "callbook.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}
